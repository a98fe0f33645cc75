# Runs a program from the model: reads it from stdin, applies limits, blocks the network, runs it.
import ctypes, json, linecache, os, signal, sys, traceback
try:
    import resource
except ImportError:
    resource = None

KEPT = {"HOME", "LANG", "PATH", "PEX_CALL", "PYTHONIOENCODING", "TMPDIR"}
NEWUSER, NEWPID, NEWNET = 0x10000000, 0x20000000, 0x40000000


def apart(network):
    """Leaves the namespaces of the machine; says what came of it."""
    if not sys.platform.startswith("linux"):
        return None, False
    try:
        libc = ctypes.CDLL(None, use_errno=True)
    except OSError:
        return None, False
    uid, gid = os.getuid(), os.getgid()
    net = 0 if network else NEWNET
    for flags in (NEWUSER | NEWPID | net, NEWPID | net, NEWUSER | net, net):
        if flags and libc.unshare(flags) == 0:
            if flags & NEWUSER:
                for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
                    try:
                        with open("/proc/self/" + name, "w") as f:
                            f.write(text)
                    except OSError:
                        pass
            return libc, flags
    return libc, 0


def limit(name, most):
    """Sets a limit, hard and soft, unless a tighter one holds."""
    which = getattr(resource, "RLIMIT_" + name, None) if resource else None
    if which is None:
        return
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    try:
        resource.setrlimit(which, (most, most))
    except (OSError, ValueError):
        pass


def alone(libc, flags):
    """Goes on as the first process of a namespace, which the kernel empties when that ends."""
    child = os.fork()
    if child:
        signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGKILL))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os._exit(status if status >= 0 else 128 - status)
    libc.prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG


def give(path, text):
    """Writes the result to a file of its own: what a program put there is left as it is."""
    whole = text.encode()
    out = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(out, "wb") as f:
        f.write(whole)


def main():
    order = json.load(sys.stdin)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    for name in set(os.environ) - KEPT:  # added by a Python launcher
        del os.environ[name]
    libc, flags = apart(order["network"])
    cut = bool(flags & NEWNET)
    if order["must"] and not cut:
        sys.exit("this run is offline, and this machine does not permit to cut a program off from the network")
    os.write(2, b"cut off\n" if cut else b"network\n")
    if flags & NEWPID:
        alone(libc, flags)
    if flags & NEWUSER:  # outside of a namespace, it would count all processes of the user
        limit("NPROC", 64)
    for name, most in (("AS", order["memory"]), ("CPU", order["cpu"]), ("FSIZE", order["file"]), ("NOFILE", 128), ("CORE", 0)):
        limit(name, most)
    result = os.path.abspath(order["result"])
    source, world = order["source"], {"__name__": "__main__", "inputs": order["inputs"], "context": order["context"] or {}}
    linecache.cache["program"] = (len(source), None, source.splitlines(True), "program")
    try:
        exec(compile(source, "program", "exec"), world)
        if "result" in world:
            give(result, json.dumps(world["result"], allow_nan=False, ensure_ascii=False))
    except SystemExit:
        raise
    except BaseException as e:
        frames = e.__traceback__
        while frames and frames.tb_frame.f_code.co_filename != "program":
            frames = frames.tb_next
        sys.stdout.flush()
        traceback.print_exception(type(e), e, frames, chain=False)
        sys.exit(1)


main()
