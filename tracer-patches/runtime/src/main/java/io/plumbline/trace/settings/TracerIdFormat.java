package io.plumbline.trace.settings;

import io.plumbline.send.TracerNames;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Collections;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * HTrace's form of a tracer id: %{tname} (the tracer), %{pname} (the main class), %{ip}, %{pid}; \ before what is meant
 * as it is. And %{host}, which HTrace does not know.
 */
public final class TracerIdFormat {
    public static final String USUAL = "%{tname}/%{host}";
    private static final Pattern PIECE = Pattern.compile("\\\\(.)|%\\{([a-z]*)\\}");
    private static final String NO_ADDRESS = "127.0.0.1";

    private TracerIdFormat() {
    }

    public static String expand(String format, String tracer) {
        Matcher piece = PIECE.matcher(format);
        StringBuffer id = new StringBuffer();
        while (piece.find()) {
            String literal = piece.group(1);
            piece.appendReplacement(id, Matcher.quoteReplacement(
                    literal != null ? literal : value(piece.group(2), tracer)));
        }
        return piece.appendTail(id).toString();
    }

    /** The same for HTrace to expand: with the host's name instead of what it does not know. */
    public static String forHTrace(String format) {
        return format.replace("%{host}", HostName.get());
    }

    /** Unknown ones are empty, as in HTrace. */
    private static String value(String variable, String tracer) {
        switch (variable) {
            case "tname":
                return tracer;
            case "pname":
                return processName();
            case "host":
                return HostName.get();
            case "ip":
                return address();
            case "pid":
                return TracerNames.ownPid();
            default:
                return "";
        }
    }

    /** The main class, without its package. */
    public static String processName() {
        String command = System.getProperty("sun.java.command", "").trim().split("\\s+")[0];
        String name = command.substring(1 + Math.max(command.lastIndexOf('.'), command.lastIndexOf('/')));
        return name.isEmpty() ? "Unknown" : name;
    }

    /**
     * The one that HTrace takes: of the host's addresses that are not loopback, the site-local ones first, the least as
     * text.
     */
    public static String address() {
        TreeSet<String> local = new TreeSet<>();
        TreeSet<String> others = new TreeSet<>();
        try {
            for (NetworkInterface card : Collections.list(NetworkInterface.getNetworkInterfaces())) {
                for (InetAddress address : Collections.list(card.getInetAddresses())) {
                    if (!address.isLoopbackAddress()) {
                        (address.isSiteLocalAddress() ? local : others).add(address.getHostAddress());
                    }
                }
            }
        } catch (SocketException | RuntimeException e) {
            return NO_ADDRESS;
        }
        return !local.isEmpty() ? local.first() : !others.isEmpty() ? others.first() : NO_ADDRESS;
    }
}
