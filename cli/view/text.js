// Numbers and names as people read them.

const SCALES = {
  nanoseconds: [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9]],
  bytes: [["B", 1], ["KiB", 1024], ["MiB", 1024 ** 2], ["GiB", 1024 ** 3], ["TiB", 1024 ** 4]],
};
const UNITS = { ns: ["nanoseconds", 1], us: ["nanoseconds", 1e3], microseconds: ["nanoseconds", 1e3], ms: ["nanoseconds", 1e6],
  milliseconds: ["nanoseconds", 1e6], s: ["nanoseconds", 1e9], seconds: ["nanoseconds", 1e9], By: ["bytes", 1], byte: ["bytes", 1] };

const grouped = value => value.toLocaleString("en-US", { maximumFractionDigits: 2 });

/** A value with its unit: "4 min 0.3 s", "1.25 MiB", "24,029 samples". */
function quantity(value, { type, unit }) {
  const sign = (Math.abs(value) > Number.MAX_SAFE_INTEGER ? "≈ " : "") + (value < 0 ? "−" : "");
  const [kind, factor] = UNITS[unit] ?? [unit, 1], scale = SCALES[kind], size = Math.abs(value) * factor;
  if (!scale) return `${sign}${grouped(size)} ${plural(size, unit === "count" || !unit ? type : unit)}`;
  if (kind === "nanoseconds" && size >= 6e10) {
    const minutes = Math.floor(size / 6e10), hours = Math.floor(minutes / 60);
    return sign + (hours ? `${grouped(hours)} h ${minutes % 60} min` : `${minutes} min ${Math.floor(size / 1e8 % 600) / 10} s`);
  }
  const [name, one] = scale.findLast(([, one]) => size >= one) ?? scale[0];
  return `${sign}${grouped(size / one)} ${name}`;
}

/** "sample" or "samples"; a name such as alloc_objects becomes words. */
function plural(count, name) {
  const word = (name || "sample").replace(/^(alloc|inuse)_/, "").replaceAll("_", " ");
  if (count === 1) return word.replace(/s$/, "");
  return /s$|\d$/.test(word) ? word : word + "s";
}

const counted = (count, name) => `${grouped(count)} ${plural(count, name)}`;

function percent(part, whole) {
  const share = whole ? 100 * part / whole : 0;
  return (share && share < 0.01 ? "< 0.01" : share.toFixed(share < 1 ? 2 : 1)) + " %";
}

/** Forms of a name from the full one to the shortest: without arguments, path, package, receiver. */
function shorter(name) {
  const bare = name.replace(/\([^()*]*\)( const)?$/, ""), file = bare.replace(/^(\[?)\S*\/(?=[^/]+$)/, "$1");
  return [name, bare, file, file.replace(/^.*?(::|\.)(?=[\w(~])/, ""), file.replace(/^.*(::|\.)(?=[\w~])/, "")].filter(Boolean);
}

/** The package of a function: the part before its name. */
function packageOf(name) {
  const slash = name.lastIndexOf("/") + 1, dot = name.slice(slash).search(/::|[.:(]/);
  return dot > 0 ? name.slice(0, slash + dot) : name;
}

/** A hue for a text, the same in every page. */
function hueOf(text) {
  let hash = 7;
  for (const letter of text) hash = Math.imul(hash ^ letter.codePointAt(0), 0x01000193);
  return ((hash >>> 0) * 137.508) % 360;
}

/** Makes an element, with properties if an object follows. Texts become text nodes, never markup. */
function element(tag, ...children) {
  const made = document.createElement(tag);
  if (children[0]?.constructor === Object) Object.assign(made, children.shift());
  made.append(...children);
  return made;
}

const $ = id => document.getElementById(id);
