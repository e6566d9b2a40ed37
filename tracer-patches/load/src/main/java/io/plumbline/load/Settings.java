package io.plumbline.load;

import java.util.ArrayList;
import java.util.List;

/** What plumb says on the command line: NAME=VALUE each. It has checked the values. */
final class Settings {
    String plan;
    String result;
    /** A file, or null. */
    String hdrLog;
    String folder = "/tmp/plumb-load";
    String live = "off";
    int threads = 2000;
    double maxErrorsPercent = 50;
    long maxLagNs = 60_000_000_000L;
    /** 0: no such rule. */
    long maxP99Ns;
    /** Read and written; 0: no such rule. */
    long maxBytes;
    /** Of HDFS, and bytes besides: the greater counts. */
    double minFreePercent;
    long minFreeBytes;
    long drainNs = 30_000_000_000L;
    Share share = Share.ALL;
    /** Workers of a closed loop; 0: operations begin when they are due. */
    int closed;
    long waitNs = 600_000_000_000L;
    boolean newClients;
    final List<String> conf = new ArrayList<>();

    static Settings of(String[] arguments) throws UsageException {
        Settings settings = new Settings();
        for (int i = 1; i < arguments.length; i++) {
            int equals = arguments[i].indexOf('=');
            if (equals < 0) {
                throw new UsageException("not of the form NAME=VALUE: " + arguments[i]);
            }
            settings.set(arguments[i].substring(0, equals), arguments[i].substring(equals + 1));
        }
        return settings;
    }

    private void set(String name, String value) throws UsageException {
        switch (name) {
            case "plan":
                plan = value;
                break;
            case "result":
                result = value;
                break;
            case "hdr-log":
                hdrLog = value;
                break;
            case "folder":
                folder = value;
                break;
            case "live":
                live = value;
                break;
            case "threads":
                threads = Integer.parseInt(value);
                break;
            case "max-errors":
                maxErrorsPercent = Double.parseDouble(value);
                break;
            case "max-lag-ns":
                maxLagNs = Long.parseLong(value);
                break;
            case "max-p99-ns":
                maxP99Ns = Long.parseLong(value);
                break;
            case "max-bytes":
                maxBytes = Long.parseLong(value);
                break;
            case "min-free-percent":
                minFreePercent = Double.parseDouble(value);
                break;
            case "min-free-bytes":
                minFreeBytes = Long.parseLong(value);
                break;
            case "drain-ns":
                drainNs = Long.parseLong(value);
                break;
            case "closed":
                closed = Integer.parseInt(value);
                break;
            case "share":
                share = Share.parse(value);
                break;
            case "wait-ns":
                waitNs = Long.parseLong(value);
                break;
            case "new-client":
                newClients = Boolean.parseBoolean(value);
                break;
            case "conf":
                conf.add(value);
                break;
            default:
                throw new UsageException("no setting " + name);
        }
    }
}
