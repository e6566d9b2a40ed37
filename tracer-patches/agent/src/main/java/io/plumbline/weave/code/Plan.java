package io.plumbline.weave.code;

import io.plumbline.weave.classes.ClassFiles;
import io.plumbline.weave.classes.ClassInfo;
import io.plumbline.weave.classes.ClassPath;
import io.plumbline.weave.classes.WeaveException;
import io.plumbline.weave.list.Function;
import io.plumbline.weave.list.Hint;
import io.plumbline.weave.list.Signature;
import io.plumbline.weave.list.Value;
import io.plumbline.weave.report.Finding;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import net.bytebuddy.jar.asm.Opcodes;
import net.bytebuddy.jar.asm.Type;

/** Which functions go into which methods of one class, and why the others do not. For the weaving of one class. */
public final class Plan {
    /** What is done to one method. */
    static final class Step {
        final Site site;
        /** Null: a span. */
        final MomentAdapter.Moment moment;
        /** Not null: the span is round this call in the method's code. */
        final Inner inner;
        /** Where SINCE and UNTIL meet; else null. */
        final String field;

        Step(Site site, MomentAdapter.Moment moment, Inner inner, String field) {
            this.site = site;
            this.moment = moment;
            this.inner = inner;
            this.field = field;
        }
    }

    private static final int NOT_OURS = Opcodes.ACC_SYNTHETIC | Opcodes.ACC_BRIDGE | Opcodes.ACC_ABSTRACT
            | Opcodes.ACC_NATIVE;

    private final ClassInfo self;
    private final Scan scan;
    private final ClassPath path;
    private final Map<String, List<Step>> steps = new HashMap<>();
    private final List<Finding> findings = new ArrayList<>();
    /** Methods that have a span already. */
    private final Set<String> spanned = new HashSet<>();
    private final Set<String> off = new HashSet<>();
    private int sites;

    public Plan(ClassInfo self, Scan scan, ClassFiles files) {
        this.self = self;
        this.scan = scan;
        this.path = new ClassPath(self, files);
    }

    /** In the order of the list: the first line for a method counts. */
    public void add(List<Function> functions) {
        for (Function function : functions) {
            if (function.kind == Function.Kind.OFF) {
                matching(function.first).forEach(m -> off.add(key(m)));
            }
        }
        for (Function function : functions) {
            add(function);
        }
    }

    private void add(Function function) {
        List<ClassInfo.Member> first = matching(function.first);
        boolean oneOnly = function.second == null || function.kind == Function.Kind.WITHIN
                || function.kind == Function.Kind.CARRY_ARGUMENT;
        List<ClassInfo.Member> second = oneOnly ? first : matching(function.second);
        if (first.isEmpty() || second.isEmpty()) {
            Signature unmatched = first.isEmpty() ? function.first : function.second;
            find(function, Finding.Status.NO_METHOD, others(unmatched), new ArrayList<>());
            return;
        }
        switch (function.kind) {
            case OFF:
                find(function, Finding.Status.OFF, names(first), new ArrayList<>());
                break;
            case CARRY:
                addCarry(function, first, second);
                break;
            case CARRY_RESULT:
                addCarryResult(function, first);
                break;
            case CARRY_ARGUMENT:
                addCarryArgument(function, first);
                break;
            case BETWEEN:
                addBetween(function, first, second);
                break;
            case ACROSS:
                addAcross(function, first, innermost(second));
                break;
            case WITHIN:
                addWithin(function, first);
                break;
            default:
                addSpans(function, first);
        }
    }

    private void addSpans(Function function, List<ClassInfo.Member> methods) {
        List<String> missing = new ArrayList<>();
        List<ClassInfo.Member> woven = new ArrayList<>();
        Map<Finding.Status, List<ClassInfo.Member>> left = new LinkedHashMap<>();
        List<ClassInfo.Member> eligible = eligible(function, methods);
        for (ClassInfo.Member method : methods) {
            Finding.Status status = reason(function, method, eligible);
            if (status == null) {
                status = weavable(method) ? Finding.Status.WOVEN : Finding.Status.FAILED;
            }
            if (status == Finding.Status.WOVEN) {
                woven.add(method);
                spanned.add(key(method));
                step(method, site(function, method, missing), null);
            } else {
                left.computeIfAbsent(status, s -> new ArrayList<>()).add(method);
            }
        }
        if (woven.isEmpty()) {
            left.forEach((status, some) -> find(function, status, names(some), missing));
        } else {
            find(function, Finding.Status.WOVEN, names(woven), missing);
        }
    }

    /**
     * Why a method is not to get a span of this line; null when it is.
     *
     * @param eligible of the methods that the line means, those that may get one: where one calls another, that has it
     */
    private Finding.Status reason(Function function, ClassInfo.Member method, List<ClassInfo.Member> eligible) {
        Finding.Status status = ownReason(function, method);
        return status != null || innermost(eligible).contains(method) ? status : Finding.Status.COVERED;
    }

    private List<ClassInfo.Member> eligible(Function function, List<ClassInfo.Member> methods) {
        return methods.stream().filter(m -> ownReason(function, m) == null).collect(Collectors.toList());
    }

    private Finding.Status ownReason(Function function, ClassInfo.Member method) {
        if (off.contains(key(method))) {
            return Finding.Status.OFF;
        }
        if (spanned.contains(key(method))) {
            return Finding.Status.COVERED;
        }
        boolean traced = function.unlessTraced && scan.methods.get(key(method)).opensScope;
        return traced ? Finding.Status.TRACED : null;
    }

    /** Constructors are entered where compilers put super(...), once. */
    private boolean weavable(ClassInfo.Member method) {
        return !method.name.equals(Signature.CONSTRUCTOR) || scan.methods.get(key(method)).initCalls == 1;
    }

    private void addCarry(Function function, List<ClassInfo.Member> constructors, List<ClassInfo.Member> methods) {
        for (ClassInfo.Member method : constructors) {
            if (!weavable(method) || losesThis(method)) {
                find(function, Finding.Status.FAILED, "unusual constructor " + name(method), new ArrayList<>());
                return;
            }
        }
        List<ClassInfo.Member> carried = new ArrayList<>();
        List<ClassInfo.Member> eligible = eligible(function, methods);
        for (ClassInfo.Member method : methods) {
            if (reason(function, method, eligible) == null && !method.is(Opcodes.ACC_STATIC)) {
                carried.add(method);
            }
        }
        if (carried.isEmpty()) {
            Finding.Status status = reason(function, methods.get(0), eligible);
            find(function, status == null ? Finding.Status.NO_METHOD : status, names(methods), new ArrayList<>());
            return;
        }
        List<String> missing = new ArrayList<>();
        for (ClassInfo.Member method : carried) {
            spanned.add(key(method));
            step(method, site(function, method, missing), null);
        }
        for (ClassInfo.Member method : constructors) {
            boolean captures = steps.getOrDefault(key(method), Collections.emptyList()).stream()
                    .anyMatch(s -> s.moment == MomentAdapter.Moment.CAPTURE);
            if (!captures) {
                step(method, plain(function, method), MomentAdapter.Moment.CAPTURE);
            }
        }
        find(function, Finding.Status.WOVEN, names(carried), missing);
    }

    private void addBetween(Function function, List<ClassInfo.Member> firsts, List<ClassInfo.Member> seconds) {
        List<ClassInfo.Member> takers = innermost(firsts);
        List<ClassInfo.Member> givers = innermost(seconds);
        for (ClassInfo.Member method : takers) {
            if (losesThis(method) || !weavable(method)) {
                find(function, Finding.Status.FAILED, "unusual code in " + name(method), new ArrayList<>());
                return;
            }
        }
        List<String> missing = new ArrayList<>();
        givers.forEach(method -> addOnce(function, method, missing, MomentAdapter.Moment.RELEASE));
        takers.forEach(method -> addOnce(function, method, missing, MomentAdapter.Moment.HOLD));
        List<ClassInfo.Member> both = new ArrayList<>(takers);
        both.addAll(givers);
        find(function, Finding.Status.WOVEN, names(both), missing);
    }

    /** Without those that only call another one of them: it would count twice. */
    private List<ClassInfo.Member> innermost(List<ClassInfo.Member> methods) {
        List<ClassInfo.Member> some = methods.stream()
                .filter(m -> methods.stream().noneMatch(other -> other != m
                        && scan.methods.get(key(m)).ownCalls.contains(key(other))))
                .collect(Collectors.toList());
        return some.isEmpty() ? methods : some;
    }

    /** Two ways to take a lock and one to give it back are two lines with one span: given back once. */
    private void addOnce(Function function, ClassInfo.Member method, List<String> missing,
            MomentAdapter.Moment moment) {
        boolean there = steps.getOrDefault(key(method), Collections.emptyList()).stream()
                .anyMatch(s -> s.moment == moment && s.site.function.span.equals(function.span));
        if (!there) {
            boolean values = moment == MomentAdapter.Moment.RELEASE;
            step(method, values ? site(function, method, missing) : plain(function, method), moment);
        }
    }

    private void addCarryResult(Function function, List<ClassInfo.Member> methods) {
        List<ClassInfo.Member> fitting = new ArrayList<>();
        for (ClassInfo.Member method : methods) {
            if (isWork(Type.getReturnType(method.descriptor))) {
                fitting.add(method);
                step(method, plain(function, method), MomentAdapter.Moment.CARRY);
            }
        }
        find(function, fitting.isEmpty() ? Finding.Status.NO_METHOD : Finding.Status.WOVEN,
                fitting.isEmpty() ? names(methods) + " returns neither Runnable nor Callable" : names(fitting),
                new ArrayList<>());
    }

    static boolean isWork(Type type) {
        String name = type.getDescriptor();
        return name.equals("Ljava/util/concurrent/Callable;") || name.equals("Ljava/lang/Runnable;");
    }

    private void addCarryArgument(Function function, List<ClassInfo.Member> methods) {
        List<ClassInfo.Member> fitting = new ArrayList<>();
        for (ClassInfo.Member method : methods) {
            List<Inner> done = new ArrayList<>();
            for (Inner call : scan.methods.get(key(method)).calls) {
                boolean hands = function.second.matches(call.name, call.descriptor)
                        && HandedAdapter.work(call.descriptor) != null;
                if (hands && done.stream().noneMatch(call::same)) {
                    done.add(call);
                    add(method, new Step(plain(function, method), MomentAdapter.Moment.CARRY, call, null));
                }
            }
            if (!done.isEmpty()) {
                fitting.add(method);
            }
        }
        find(function, fitting.isEmpty() ? Finding.Status.NO_METHOD : Finding.Status.WOVEN,
                fitting.isEmpty() ? names(methods) + " hands no Runnable or Callable to " + function.second
                        : names(fitting),
                new ArrayList<>());
    }

    private void addAcross(Function function, List<ClassInfo.Member> firsts, List<ClassInfo.Member> seconds) {
        List<ClassInfo.Member> both = new ArrayList<>(firsts);
        both.addAll(seconds);
        for (ClassInfo.Member method : both) {
            if (method.is(Opcodes.ACC_STATIC) || !weavable(method)) {
                find(function, Finding.Status.FAILED, name(method) + " is static or unusual", new ArrayList<>());
                return;
            }
        }
        String field = nextPrefix() + "since";
        for (ClassInfo.Member method : both) {
            boolean begins = firsts.contains(method);
            add(method, new Step(plain(function, method),
                    begins ? MomentAdapter.Moment.SINCE : MomentAdapter.Moment.UNTIL, null, field));
        }
        find(function, Finding.Status.WOVEN, names(both), new ArrayList<>());
    }

    private void addWithin(Function function, List<ClassInfo.Member> methods) {
        List<ClassInfo.Member> woven = new ArrayList<>();
        List<String> missing = new ArrayList<>();
        for (ClassInfo.Member method : methods) {
            List<Inner> done = new ArrayList<>();
            for (Inner call : scan.methods.get(key(method)).calls) {
                if (done.stream().anyMatch(call::same) || !call.movable()
                        || !function.second.matches(call.name, call.descriptor)) {
                    continue;
                }
                done.add(call);
                ClassInfo.Member called =
                        new ClassInfo.Member(self, call.isStatic() ? Opcodes.ACC_STATIC : 0, call.name,
                                call.descriptor);
                add(method, new Step(site(function, called, missing), null, call, null));
            }
            if (!done.isEmpty()) {
                woven.add(method);
            }
        }
        find(function, woven.isEmpty() ? Finding.Status.NO_METHOD : Finding.Status.WOVEN,
                woven.isEmpty() ? "no call of " + function.second + " in " + names(methods) : names(woven), missing);
    }

    private boolean losesThis(ClassInfo.Member method) {
        return !method.is(Opcodes.ACC_STATIC) && scan.methods.get(key(method)).losesThis;
    }

    private Site site(Function function, ClassInfo.Member method, List<String> missing) {
        List<CompiledValue> enter = new ArrayList<>();
        List<CompiledValue> exit = new ArrayList<>();
        for (Value value : function.values) {
            try {
                (value.atReturn ? exit : enter).add(CompiledValue.compile(value, self, method, path));
            } catch (WeaveException e) {
                missing.add(value + " in " + name(method) + ": " + e.getMessage());
            }
        }
        return new Site(function, self, method, enter, exit, nextPrefix());
    }

    private Site plain(Function function, ClassInfo.Member method) {
        return new Site(function, self, method, new ArrayList<>(), new ArrayList<>(), nextPrefix());
    }

    private String nextPrefix() {
        return ClassWeaver.PREFIX + sites++ + "$";
    }

    private void step(ClassInfo.Member method, Site site, MomentAdapter.Moment moment) {
        add(method, new Step(site, moment, null, null));
    }

    private void add(ClassInfo.Member method, Step step) {
        steps.computeIfAbsent(key(method), k -> new ArrayList<>()).add(step);
    }

    private void find(Function function, Finding.Status status, String detail, List<String> missing) {
        findings.add(new Finding(function, status, detail, missing));
    }

    private List<ClassInfo.Member> matching(Signature signature) {
        return self.methods.stream()
                .filter(m -> (m.access & NOT_OURS) == 0 && signature.matches(m.name, m.descriptor))
                .collect(Collectors.toList());
    }

    /** What may have been meant. */
    private String others(Signature wanted) {
        List<ClassInfo.Member> same = self.methods.stream().filter(m -> m.name.equals(wanted.method))
                .collect(Collectors.toList());
        if (!same.isEmpty()) {
            return "there is " + names(same);
        }
        return "no method " + wanted.method + Hint.of(wanted.method,
                self.methods.stream().map(m -> m.name).collect(Collectors.toSet()));
    }

    private static String names(List<ClassInfo.Member> methods) {
        return methods.stream().map(Plan::name).collect(Collectors.joining(", "));
    }

    private static String name(ClassInfo.Member method) {
        List<String> types = new ArrayList<>();
        for (Type type : Type.getArgumentTypes(method.descriptor)) {
            String full = type.getClassName();
            types.add(full.substring(full.lastIndexOf('.') + 1));
        }
        return method.name + "(" + String.join(", ", types) + ")";
    }

    private static String key(ClassInfo.Member method) {
        return Scan.key(method.name, method.descriptor);
    }

    public boolean isEmpty() {
        return steps.isEmpty();
    }

    /** What is done to the method, in the order of the list. */
    List<Step> steps(String name, String descriptor) {
        return steps.getOrDefault(Scan.key(name, descriptor), Collections.emptyList());
    }

    List<Step> allSteps() {
        return steps.values().stream().flatMap(List::stream).collect(Collectors.toList());
    }

    public List<Finding> findings() {
        return findings;
    }
}
