import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Scanner;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.opensearch.Version;
import org.opensearch.common.settings.Settings;
import org.opensearch.env.Environment;
import org.opensearch.node.Node;
import org.opensearch.node.NodeValidationException;
import org.opensearch.plugins.PluginInfo;

/**
 * Runs the nodes of one OpenSearch cluster on loopback, in this process, with the security plugin where it is on the class path.
 *
 * <p>What {@code config/opensearch.yml} sets, if there is one, goes for all nodes, but for what keeps them apart and on loopback.
 *
 * <p>Arguments: a folder for its data, the name of the cluster, and HTTP:TRANSPORT ports of each node. Standard input takes
 * commands, {@code stop N} and {@code start N} with the number of a node. Its end is the end of the cluster and of its data.
 */
public final class Engine {
    private static final String SECURITY = "org.opensearch.security.OpenSearchSecurityPlugin";
    private static final boolean IS_SECURED = isPresent(SECURITY);

    private final Path home;
    private final String cluster;
    private final List<String[]> ports = new ArrayList<>();
    private final Map<Integer, Node> running = new HashMap<>();

    private Engine(String[] args) {
        home = Path.of(args[0]);
        cluster = args[1];
        Stream.of(args).skip(2).forEach(pair -> ports.add(pair.split(":")));
    }

    public static void main(String[] args) throws Exception {
        try {
            Engine engine = new Engine(args);
            Files.createDirectories(engine.home.resolve("config"));
            engine.startAll();
            engine.obey(new Scanner(System.in));
            engine.remove();
        } catch (Throwable failure) {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
        Runtime.getRuntime().halt(0);
    }

    private void obey(Scanner commands) throws IOException {
        while (commands.hasNext()) {
            String command = commands.next();
            int number = commands.nextInt();
            switch (command) {
                case "start" -> start(make(number));
                case "stop" -> running.remove(number).close();
                default -> throw new IllegalArgumentException(command);
            }
        }
    }

    /** One waits for the other: together they choose the manager of the cluster. */
    private void startAll() {
        // Painless does not bear to be loaded by several threads.
        List<Node> nodes = IntStream.range(0, ports.size()).mapToObj(this::make).toList();
        nodes.parallelStream().forEach(Engine::start);
    }

    private Node make(int number) {
        Node node;
        try {
            node = new LoopbackNode(settings(number), home.resolve("config"));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        running.put(number, node);
        return node;
    }

    private static void start(Node node) {
        try {
            node.start();
        } catch (NodeValidationException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private Settings settings(int number) throws IOException {
        Settings.Builder settings = Settings.builder();
        Path written = home.resolve("config/opensearch.yml");
        if (Files.exists(written)) {
            settings.loadFromPath(written);
        }
        if (!IS_SECURED) {
            settings.put("http.type", "netty4").put("transport.type", "netty4");
        }
        return settings
            .put("cluster.name", cluster)
            .put("node.name", name(number))
            .put("path.home", home)
            .put("path.data", home.resolve(name(number)))
            .put("path.logs", home.resolve("logs"))
            .put("network.host", "127.0.0.1")
            .put("http.port", ports.get(number)[0])
            .put("transport.port", ports.get(number)[1])
            .put("node.processors", 2)
            .putList("discovery.seed_hosts", ports.stream().map(pair -> "127.0.0.1:" + pair[1]).toList())
            .putList("cluster.initial_cluster_manager_nodes", IntStream.range(0, ports.size()).mapToObj(Engine::name).toList())
            // How full the disk of this machine is decides nothing in a test.
            .put("cluster.routing.allocation.disk.threshold_enabled", false)
            .build();
    }

    private static String name(int number) {
        return "node" + number;
    }

    private static boolean isPresent(String type) {
        try {
            Class.forName(type, false, Engine.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException none) {
            return false;
        }
    }

    private void remove() throws IOException {
        for (Node node : running.values()) {
            node.close();
        }
        List<Path> paths;
        try (Stream<Path> found = Files.walk(home)) {
            paths = found.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path path : paths) {
            Files.deleteIfExists(path);
        }
    }

    /** Only a subclass may give a node plugins that stand on the class path. */
    private static final class LoopbackNode extends Node {
        LoopbackNode(Settings settings, Path config) {
            super(new Environment(settings, config), plugins(), false);
        }

        private static List<PluginInfo> plugins() {
            Stream<String> types = Stream.of(
                "org.opensearch.transport.Netty4ModulePlugin",
                "org.opensearch.analysis.common.CommonAnalysisModulePlugin",
                "org.opensearch.painless.PainlessModulePlugin");
            return Stream.concat(types, IS_SECURED ? Stream.of(SECURITY) : Stream.empty()).map(LoopbackNode::plugin).toList();
        }

        private static PluginInfo plugin(String type) {
            return new PluginInfo(type, "from the class path", "0", Version.CURRENT, "21", type, null, List.of(), false);
        }
    }
}
