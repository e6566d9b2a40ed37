package io.plumbline.weave.list;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The functions to be traced, by class. A site's own come before the built-in ones: of several lines that mean the same
 * method the first counts. Immutable; any thread.
 *
 * <p>It is read before main: without lambdas, whose first use costs more than all the rest.
 */
public final class FunctionList {
    private static final String BUILT_IN = "functions.conf";

    private final Map<String, List<Function>> byClass = new LinkedHashMap<>();

    private FunctionList() {
    }

    /**
     * The built-in list and a site's.
     *
     * @param siteFile null or empty when there is none
     * @throws ListException naming file and line, or the file that cannot be read
     */
    public static FunctionList load(String siteFile) throws ListException {
        FunctionList list = new FunctionList();
        if (siteFile != null && !siteFile.isEmpty()) {
            Path path = Paths.get(siteFile);
            try (Reader in = Files.newBufferedReader(path)) {
                list.read(in, siteFile, true);
            } catch (IOException e) {
                throw new ListException("functions = " + siteFile + ": cannot be read: " + e);
            }
        }
        try (InputStream in = FunctionList.class.getResourceAsStream("/io/plumbline/weave/" + BUILT_IN)) {
            list.read(new InputStreamReader(in, StandardCharsets.UTF_8), BUILT_IN, false);
        } catch (IOException e) {
            throw new ListException(BUILT_IN + ": cannot be read: " + e);
        }
        return list;
    }

    /** Only that text. @param file what errors call it */
    public static FunctionList parse(Reader text, String file, boolean site) throws ListException {
        FunctionList list = new FunctionList();
        try {
            list.read(text, file, site);
        } catch (IOException e) {
            throw new ListException(file + ": cannot be read: " + e);
        }
        return list;
    }

    private void read(Reader in, String file, boolean site) throws IOException, ListException {
        BufferedReader lines = new BufferedReader(in);
        String[] head = null;
        int number = 0;
        for (String raw = lines.readLine(); raw != null; raw = lines.readLine()) {
            number++;
            String line = withoutComment(raw).trim();
            if (line.isEmpty()) {
                continue;
            }
            try {
                if (line.startsWith("[")) {
                    head = section(line);
                } else {
                    add(function(line, head, file + ":" + number, site));
                }
            } catch (IllegalArgumentException e) {
                throw new ListException(file, number, e.getMessage());
            }
        }
    }

    /** A # in quotes or within a word ("Class#method") begins no comment. */
    private static String withoutComment(String line) {
        boolean quoted = false;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            quoted ^= c == '\'';
            if (c == '#' && !quoted && (i == 0 || Character.isWhitespace(line.charAt(i - 1)))) {
                return line.substring(0, i);
            }
        }
        return line;
    }

    private static String[] section(String line) {
        String[] words = line.endsWith("]") ? line.substring(1, line.length() - 1).trim().split("\\s+") : new String[0];
        if (words.length != 2 || !words[0].matches("[\\w$]+(\\.[\\w$]+)*") || !words[1].matches("[A-Za-z][\\w-]*")) {
            throw new IllegalArgumentException("\"" + line + "\": expected [class role], such as "
                    + "[org.example.Outer$Inner client]");
        }
        return words;
    }

    private static Function function(String line, String[] head, String place, boolean site) {
        if (head == null) {
            throw new IllegalArgumentException("a line [class role] comes before the functions of a class");
        }
        Function.Builder builder = new Function.Builder();
        builder.className = head[0];
        builder.role = head[1];
        builder.place = place;
        builder.site = site;
        return LineParser.parse(builder, line);
    }

    private void add(Function function) {
        List<Function> functions = byClass.get(function.className);
        if (functions == null) {
            functions = new ArrayList<>();
            byClass.put(function.className, functions);
        }
        functions.add(function);
    }

    /** In the order of the list. */
    public Set<String> classes() {
        return Collections.unmodifiableSet(byClass.keySet());
    }

    /** @param className as {@code org.apache.hadoop.hdfs.DFSClient} */
    public List<Function> of(String className) {
        return byClass.getOrDefault(className, Collections.emptyList());
    }

    /** All, in the order of the list. */
    public List<Function> all() {
        List<Function> all = new ArrayList<>();
        byClass.values().forEach(all::addAll);
        return all;
    }
}
