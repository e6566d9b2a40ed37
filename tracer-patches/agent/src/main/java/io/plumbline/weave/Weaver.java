package io.plumbline.weave;

import io.plumbline.trace.report.Trouble;
import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.classes.ClassInfo;
import io.plumbline.weave.classes.Patch;
import io.plumbline.weave.classes.WeaveException;
import io.plumbline.weave.code.ClassWeaver;
import io.plumbline.weave.code.Plan;
import io.plumbline.weave.code.Scan;
import io.plumbline.weave.list.Function;
import io.plumbline.weave.list.FunctionList;
import io.plumbline.weave.report.Finding;
import io.plumbline.weave.report.WeaveReport;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.bytebuddy.jar.asm.ClassReader;
import net.bytebuddy.jar.asm.Opcodes;

/**
 * Puts the functions of the list and the patches into class files. The agent and the jar weaver use the same one. Any
 * thread; no method throws: what cannot be woven stays as it is and is reported.
 */
public final class Weaver {
    /** Java 7: older class files know no invokedynamic, and their verifier needs no frames. */
    private static final int OLDEST = Opcodes.V1_7;

    private final FunctionList list;
    private final WeaveReport report;
    private final Map<String, List<Patch>> patches = new HashMap<>();

    public Weaver(FunctionList list, WeaveReport report) {
        this(list, report, Patches.ALL);
    }

    Weaver(FunctionList list, WeaveReport report, List<Patch> all) {
        this.list = list;
        this.report = report;
        for (Patch patch : all) {
            for (String name : patch.classes()) {
                List<Patch> some = patches.getOrDefault(name, new ArrayList<>());
                some.add(patch);
                patches.put(name, some);
            }
        }
    }

    /** The classes that {@link #weave} may change, as {@code org.apache.hadoop.hdfs.DFSClient}. */
    public Set<String> classes() {
        Set<String> all = new HashSet<>(list.classes());
        all.addAll(patches.keySet());
        return all;
    }

    /**
     * @param className with dots, as {@code org.apache.hadoop.hdfs.DFSClient$1}
     * @param classFile as found; not changed
     * @param files of the same class path
     * @return the woven class file, or null when there is nothing to change
     */
    public byte[] weave(String className, byte[] classFile, ClassFiles files) {
        return weave(className, classFile, files, true);
    }

    /** @param ownLoader has the class the agent's own loader, or will it have? See {@link Patch#ownLoaderOnly} */
    public byte[] weave(String className, byte[] classFile, ClassFiles files, boolean ownLoader) {
        try {
            return weaveAll(className, classFile, files, ownLoader);
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.WEAVE, e);
            list.of(className).forEach(f -> report.add(
                    new Finding(f, Finding.Status.FAILED, String.valueOf(e), Collections.emptyList())));
            return null;
        }
    }

    /** A class was there before the agent; nothing happens if it is not one of {@link #classes}. */
    public void tooLate(String className) {
        for (Function function : list.of(className)) {
            report.add(
                    new Finding(function, Finding.Status.FAILED, "loaded before the agent", Collections.emptyList()));
        }
        for (Patch patch : patches.getOrDefault(className, Collections.emptyList())) {
            report.add(new Finding(className, patch, Finding.Status.FAILED, "loaded before the agent"));
        }
    }

    private byte[] weaveAll(String className, byte[] classFile, ClassFiles files, boolean ownLoader) {
        List<Function> functions = list.of(className);
        ClassReader reader = new ClassReader(classFile);
        Scan scan = Scan.of(reader);
        if (scan.woven) {
            ahead(className, functions);
            return null;
        }
        byte[] patched = classFile;
        for (Patch patch : patches.getOrDefault(className, Collections.emptyList())) {
            if (ownLoader || !patch.ownLoaderOnly()) {
                patched = patch(patch, className, patched, files);
            } else {
                report.add(new Finding(className, patch, Finding.Status.NOT_APPLICABLE, "another class loader has it"));
            }
        }
        if (!functions.isEmpty()) {
            if (patched != classFile) {
                reader = new ClassReader(patched);
                scan = Scan.of(reader);
            }
            byte[] woven = weave(functions, patched, reader, scan, files);
            if (woven != patched) {
                return woven;
            }
        }
        return patched == classFile ? null : ClassWeaver.mark(patched);
    }

    private void ahead(String className, List<Function> functions) {
        functions.forEach(f -> report.add(new Finding(f, Finding.Status.AHEAD, "", Collections.emptyList())));
        patches.getOrDefault(className, Collections.emptyList())
                .forEach(p -> report.add(new Finding(className, p, Finding.Status.AHEAD, "")));
    }

    private byte[] patch(Patch patch, String className, byte[] classFile, ClassFiles files) {
        try {
            byte[] patched = patch.change(className, classFile, files);
            report.add(new Finding(className, patch, Finding.Status.WOVEN, ""));
            return patched;
        } catch (WeaveException e) {
            report.add(new Finding(className, patch, Finding.Status.NOT_APPLICABLE, e.getMessage()));
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.WEAVE, e);
            report.add(new Finding(className, patch, Finding.Status.FAILED, String.valueOf(e)));
        }
        return classFile;
    }

    private byte[] weave(List<Function> functions, byte[] classFile, ClassReader reader, Scan scan,
            ClassFiles files) {
        if (scan.version < OLDEST) {
            functions.forEach(f -> report.add(new Finding(f, Finding.Status.FAILED,
                    "compiled for a Java before 7 (class file version " + scan.version + ")",
                    Collections.emptyList())));
            return classFile;
        }
        try {
            Plan plan = plan(functions, classFile, scan, files);
            byte[] woven = plan.isEmpty() ? classFile : ClassWeaver.weave(reader, plan, scan);
            plan.findings().forEach(report::add);
            return woven;
        } catch (RuntimeException e) {
            List<Function> good = withoutFailing(functions, classFile, reader, scan, files);
            if (good.size() == functions.size()) {
                good.forEach(f -> failed(f, e));
                return classFile;
            }
            return good.isEmpty() ? classFile : weave(good, classFile, reader, scan, files);
        }
    }

    private static Plan plan(List<Function> functions, byte[] classFile, Scan scan, ClassFiles files) {
        Plan plan = new Plan(ClassInfo.read(classFile), scan, files);
        plan.add(functions);
        return plan;
    }

    /** One of them cannot be woven: the others still can. */
    private List<Function> withoutFailing(List<Function> functions, byte[] classFile, ClassReader reader, Scan scan,
            ClassFiles files) {
        List<Function> good = new ArrayList<>();
        for (Function function : functions) {
            try {
                ClassWeaver.weave(reader, plan(Collections.singletonList(function), classFile, scan, files), scan);
                good.add(function);
            } catch (RuntimeException e) {
                failed(function, e);
            }
        }
        return good;
    }

    private void failed(Function function, RuntimeException e) {
        Trouble.count(Trouble.Kind.WEAVE, e);
        report.add(new Finding(function, Finding.Status.FAILED, String.valueOf(e), Collections.emptyList()));
    }
}
