package io.plumbline.send.net;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Host and port of a receiver. The name is looked up at each connect, so that a receiver may move. */
public final class Address {
    public static final int DEFAULT_PORT = 9410;

    private final String host;
    private final int port;

    private Address(String host, int port) {
        this.host = host;
        this.port = port;
    }

    /** A list separated by commas, each {@code host}, {@code host:port}, {@code [ipv6]} or {@code [ipv6]:port}. */
    public static List<Address> parseList(String text) {
        List<Address> addresses = new ArrayList<>();
        for (String part : text.split(",")) {
            if (!part.trim().isEmpty()) {
                addresses.add(parse(part.trim()));
            }
        }
        if (addresses.isEmpty()) {
            throw new IllegalArgumentException("no address in '" + text + "'");
        }
        return Collections.unmodifiableList(addresses);
    }

    private static Address parse(String text) {
        int hostEnd = text.startsWith("[") ? text.indexOf(']') + 1 : text.lastIndexOf(':');
        if (text.startsWith("[") ? hostEnd == 0 : text.indexOf(':') != hostEnd) {
            throw new IllegalArgumentException("'" + text + "' is no host:port (write IPv6 as [::1]:9410)");
        }
        if (hostEnd < 0) {
            hostEnd = text.length();
        }
        String host = text.startsWith("[") ? text.substring(1, hostEnd - 1) : text.substring(0, hostEnd);
        String rest = text.substring(hostEnd);
        int port = rest.isEmpty() ? DEFAULT_PORT : parsePort(text, rest);
        if (host.isEmpty()) {
            throw new IllegalArgumentException("'" + text + "' names no host");
        }
        return new Address(host, port);
    }

    private static int parsePort(String text, String rest) {
        try {
            int port = rest.startsWith(":") ? Integer.parseInt(rest.substring(1)) : 0;
            if (port >= 1 && port <= 65535) {
                return port;
            }
        } catch (NumberFormatException e) {
            // falls through to the message below
        }
        throw new IllegalArgumentException("'" + text + "' has no port from 1 to 65535");
    }

    String host() {
        return host;
    }

    int port() {
        return port;
    }

    InetSocketAddress resolve() {
        return new InetSocketAddress(host, port);
    }

    @Override
    public String toString() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }
}
