package io.plumbline.agent;

import io.plumbline.trace.Hooks;
import io.plumbline.trace.report.Trouble;
import io.plumbline.weave.Weaver;
import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.report.WeaveReport;
import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

/** Weaves classes as they are loaded. Any class that is not listed costs one look-up of its name. */
final class LoadTimeWeaver implements ClassFileTransformer {
    private final Weaver weaver;
    private final WeaveReport report;
    /** With slashes, as the JVM names them. */
    private final Set<String> names = new HashSet<>();
    private final Map<ClassLoader, Boolean> seesAgent = Collections.synchronizedMap(new WeakHashMap<>());

    LoadTimeWeaver(Weaver weaver, WeaveReport report) {
        this.weaver = weaver;
        this.report = report;
        for (String name : weaver.classes()) {
            names.add(name.replace('.', '/'));
        }
    }

    @Override
    public byte[] transform(ClassLoader loader, String className, Class<?> redefined, ProtectionDomain domain,
            byte[] classFile) {
        if (className == null || loader == null || !names.contains(className)) {
            return null;
        }
        try {
            return weave(loader, className.replace('/', '.'), classFile);
        } catch (Throwable e) {
            Trouble.count(Trouble.Kind.WEAVE, e);
            return null;
        }
    }

    private byte[] weave(ClassLoader loader, String className, byte[] classFile) {
        if (!seesAgent(loader)) {
            report.countElsewhere();
            return null;
        }
        long begin = System.nanoTime();
        byte[] woven = weaver.weave(className, classFile, ClassFiles.of(loader),
                loader == Hooks.class.getClassLoader());
        report.countTime(System.nanoTime() - begin);
        if (woven != null) {
            report.countClass();
        }
        return woven;
    }

    /**
     * Woven code must find the runtime, and the same one that the agent has. No lock is held while the loader looks.
     */
    private boolean seesAgent(ClassLoader loader) {
        Boolean known = seesAgent.get(loader);
        if (known == null) {
            known = finds(loader);
            seesAgent.put(loader, known);
        }
        return known;
    }

    private static boolean finds(ClassLoader loader) {
        try {
            return Class.forName(Hooks.class.getName(), false, loader) == Hooks.class;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }
}
