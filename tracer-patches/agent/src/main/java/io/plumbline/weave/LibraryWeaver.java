package io.plumbline.weave;

import io.plumbline.weave.classes.Library;
import io.plumbline.weave.list.FunctionList;
import io.plumbline.weave.report.WeaveReport;
import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Writes a woven copy of a folder of jars, or of one jar. It is there as a whole or not at all: it is made beside its
 * place and then renamed.
 */
public final class LibraryWeaver {
    /** The agent's name in woven folders. */
    private static final String AGENT = "plumb-agent.jar";
    /** In a folder that was made here: it may be made again. */
    private static final String MADE_HERE = ".plumb-woven";

    /** What was done. */
    public static final class Result {
        public int jars;
        public int wovenJars;
        public int wovenClasses;
        /** Of an earlier run: copied as they are. */
        public int alreadyWoven;
    }

    private final FunctionList list;
    private final WeaveReport report;
    private final Path agentJar;
    private final String version;
    private final Result result = new Result();

    /** @param agentJar is put beside woven jars */
    public LibraryWeaver(FunctionList list, WeaveReport report, Path agentJar, String version) {
        this.list = list;
        this.report = report;
        this.agentJar = agentJar;
        this.version = version;
    }

    /** @throws IOException saying what is in the way; then {@code out} is as it was */
    public Result weave(Path in, Path out) throws IOException {
        Path from = in.toRealPath();
        Path to = real(out);
        if (to.equals(from)) {
            throw new IOException("--out is the same as --in: " + out + "; the jars are copied, never changed");
        }
        if (to.startsWith(from) || from.startsWith(to)) {
            throw new IOException("--out and --in must not be inside one another: " + in + ", " + out);
        }
        boolean folder = Files.isDirectory(from);
        checkFree(to, folder);
        if (to.getParent() != null) {
            Files.createDirectories(to.getParent());
        }
        Path partial = to.resolveSibling(to.getFileName() + ".partial");
        delete(partial);
        try (Library library = Library.open(Collections.singletonList(from))) {
            JarWeaver weaver = new JarWeaver(new Weaver(list, report), library, version);
            if (folder) {
                weaveFolder(weaver, from, partial);
            } else {
                weaveJar(weaver, from, partial);
            }
            moveInPlace(partial, to);
            if (!folder && result.wovenJars > 0) {
                Files.copy(agentJar, to.resolveSibling(AGENT), StandardCopyOption.REPLACE_EXISTING);
            }
        } finally {
            delete(partial);
        }
        return result;
    }

    private static Path real(Path path) throws IOException {
        Path absolute = path.toAbsolutePath().normalize();
        Path parent = absolute.getParent();
        boolean known = parent != null && Files.exists(parent);
        return Files.exists(absolute) ? absolute.toRealPath()
                : known ? parent.toRealPath().resolve(absolute.getFileName()) : absolute;
    }

    /** What we did not make is not touched. */
    private static void checkFree(Path out, boolean folder) throws IOException {
        if (!Files.exists(out, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        if (!folder) {
            if (!Files.isRegularFile(out) || !JarWeaver.isWoven(out)) {
                throw new IOException(out + " is there already and is not a woven jar");
            }
            return;
        }
        if (!Files.isDirectory(out)) {
            throw new IOException(out + " is not a folder, but " + "--in is one");
        }
        try (Stream<Path> files = Files.list(out)) {
            if (!Files.exists(out.resolve(MADE_HERE)) && files.findAny().isPresent()) {
                throw new IOException(out + " is not empty and was not made by this command");
            }
        }
    }

    private void weaveFolder(JarWeaver weaver, Path from, Path to) throws IOException {
        Set<Path> withWoven = new LinkedHashSet<>();
        Files.walkFileTree(from, EnumSet.of(FileVisitOption.FOLLOW_LINKS), Integer.MAX_VALUE,
                new SimpleFileVisitor<Path>() {
                    @Override
                    public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes attributes)
                            throws IOException {
                        Files.createDirectory(to.resolve(from.relativize(dir)));
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                        Path copy = to.resolve(from.relativize(file));
                        if (file.getFileName().toString().equals(MADE_HERE)) {
                            return FileVisitResult.CONTINUE;
                        }
                        if (weaveJar(weaver, file, copy)) {
                            withWoven.add(copy.getParent());
                        }
                        return FileVisitResult.CONTINUE;
                    }
                });
        for (Path folder : withWoven) {
            Files.copy(agentJar, folder.resolve(AGENT), StandardCopyOption.REPLACE_EXISTING);
        }
        Files.write(to.resolve(MADE_HERE), Collections.singletonList("plumb-agent " + version));
    }

    /** TRUE when the copy is woven, now or by an earlier run. */
    private boolean weaveJar(JarWeaver weaver, Path jar, Path copy) throws IOException {
        if (!jar.toString().endsWith(".jar")) {
            Files.copy(jar, copy, StandardCopyOption.COPY_ATTRIBUTES);
            return false;
        }
        result.jars++;
        int classes = weaver.weave(jar, copy);
        if (classes > 0) {
            result.wovenJars++;
            result.wovenClasses += classes;
            return true;
        }
        Files.copy(jar, copy, StandardCopyOption.COPY_ATTRIBUTES);
        boolean before = JarWeaver.isWoven(jar);
        result.alreadyWoven += before ? 1 : 0;
        return before;
    }

    /** Renaming is one step only where nothing is there yet; an earlier result goes aside first. */
    private static void moveInPlace(Path partial, Path out) throws IOException {
        Path old = out.resolveSibling(out.getFileName() + ".old");
        delete(old);
        boolean replaces = Files.exists(out);
        if (replaces) {
            Files.move(out, old, StandardCopyOption.ATOMIC_MOVE);
        }
        try {
            Files.move(partial, out, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            if (replaces) {
                Files.move(old, out, StandardCopyOption.ATOMIC_MOVE);
            }
            throw e;
        }
        delete(old);
    }

    private static void delete(Path path) throws IOException {
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        Files.walkFileTree(path, new SimpleFileVisitor<Path>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path dir, IOException e) throws IOException {
                Files.delete(dir);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
