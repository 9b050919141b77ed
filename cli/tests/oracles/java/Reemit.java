import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Parses OTLP payloads with the classes of one release of io.opentelemetry.proto and writes them again.
 *
 * <p>Arguments: the name of the message. Stdin: a path a line. Stdout: for each, the number of samples, the sum of
 * their values, the number of unknown fields, and whether the bytes are the same; or "refused" and the reason.
 */
final class Reemit {
  private long samples;
  private long unknown;
  private BigInteger sum = BigInteger.ZERO;

  public static void main(String[] args) throws Exception {
    Message message = (Message) Class.forName(args[0]).getMethod("getDefaultInstance").invoke(null);
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String path = lines.readLine(); path != null; path = lines.readLine()) {
      byte[] bytes = Files.readAllBytes(Path.of(path));
      try {
        var input = CodedInputStream.newInstance(bytes);
        input.setRecursionLimit(1000);
        Message read = message.getParserForType().parseFrom(input);
        var facts = new Reemit();
        facts.add(read);
        boolean isSame = Arrays.equals(bytes, read.toByteArray());
        System.out.println(facts.samples + " " + facts.sum + " " + facts.unknown + " " + isSame);
      } catch (Exception error) {
        System.out.println("refused " + error.toString().replace('\n', ' '));
      }
    }
  }

  private void add(Message message) {
    unknown += message.getUnknownFields().asMap().size();
    boolean isSample = message.getDescriptorForType().getName().equals("Sample");
    samples += isSample ? 1 : 0;
    for (var entry : message.getAllFields().entrySet()) {
      FieldDescriptor field = entry.getKey();
      var items = field.isRepeated() ? (Iterable<?>) entry.getValue() : java.util.List.of(entry.getValue());
      if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
        for (Object item : items) {
          add((Message) item);
        }
      } else if (isSample && (field.getName().equals("value") || field.getName().equals("values"))) {
        for (Object item : items) {
          sum = sum.add(BigInteger.valueOf(((Number) item).longValue()));
        }
      }
    }
  }
}
