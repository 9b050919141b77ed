// Bytes: base64, gzip, and the fields of protobuf messages.

function base64Bytes(text) {
  return Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
}

async function gunzip(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const DAMAGED = "The profile in this page is damaged: it ends too early";

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
    this.low = this.high = 0; // The halves of the last number of 64 bits, which a Number cannot hold.
  }

  /** A signed number of 64 bits, rounded beyond 2^53. */
  varint() {
    const bytes = this.bytes;
    let byte = bytes[this.at++];
    this.high = 0;
    if (byte < 128) return this.low = byte;
    let low = byte & 127, high = 0;
    for (let shift = 7; byte > 127; shift += 7) {
      byte = bytes[this.at++];
      if (byte === undefined || shift > 63) throw new Error(DAMAGED);
      if (shift < 32) low |= (byte & 127) << shift;
      if (shift === 28) high = (byte & 127) >> 4;
      if (shift > 31) high |= (byte & 127) << (shift - 32);
    }
    this.low = low >>> 0;
    this.high = high;
    return high * 4294967296 + this.low;
  }

  fixed64() {
    this.at += 8;
    return this.view.getUint32(this.at - 4, true) * 4294967296 + this.view.getUint32(this.at - 8, true);
  }

  double() {
    this.at += 8;
    return this.view.getFloat64(this.at - 8, true);
  }

  /** The end of a field with a length, which begins here. */
  end() {
    const length = this.varint(), end = this.at + length;
    if (!(length >= 0 && end <= this.bytes.length)) throw new Error(DAMAGED);
    return end;
  }

  /** Calls `read` for each field of a message up to `end`; it returns false for a field to skip. */
  fields(end, read) {
    while (this.at < end) {
      const tag = this.varint(), type = tag & 7;
      if (read(tag >>> 3) !== false) continue;
      if (type === 0) this.varint();
      else if (type === 2) this.at = this.end();
      else this.at += type === 1 ? 8 : 4;
    }
  }

  message(read) {
    this.fields(this.end(), read);
  }

  /** A message of numbers, by field. */
  numbers() {
    const row = [0, 0, 0, 0, 0];
    this.message(field => field > 4 ? false : void (row[field] = this.varint()));
    return row;
  }

  /** Appends packed numbers. */
  packed(column) {
    for (const end = this.end(); this.at < end;) column.push(this.varint());
  }
}

/** A typed array that grows. */
class Column {
  constructor(Type) {
    this.items = new Type(1024);
    this.length = 0;
  }

  push(value) {
    if (this.length === this.items.length) {
      const grown = new this.items.constructor(2 * this.length);
      grown.set(this.items);
      this.items = grown;
    }
    this.items[this.length++] = value;
  }

  get used() {
    return this.items.subarray(0, this.length);
  }
}

/** Rows of unequal length, end to end. */
class Rows {
  constructor(Type) {
    this.data = new Column(Type);
    this.ends = new Column(Int32Array);
  }

  close() {
    this.ends.push(this.data.length);
  }

  start(row) {
    return row ? this.ends.items[row - 1] : 0;
  }

  end(row) {
    return this.ends.items[row];
  }

  get(row) {
    return this.data.items.subarray(this.start(row), this.end(row));
  }
}
