package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// insideVariable is the environment variable with the folder of the programs that the tests start.
const insideVariable = "UFS_BEAM_TEST_PROGRAMS"

// TestMain runs the tests in a network and a /tmp of their own. Beam's pool of workers has a fixed
// port, and what boots a worker leaves 90 MB in /tmp for every job: neither is to meet another
// run of the tests, or to stay.
func TestMain(m *testing.M) {
	if os.Getenv(insideVariable) == "" {
		os.Exit(outside())
	}
	if err := enter(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// outside builds the programs, because inside there is no network for it, and runs the tests.
func outside() int {
	code, err := buildAndRun()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func buildAndRun() (code int, err error) {
	tmp, err := os.MkdirTemp("", "ufs-beam-test")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(tmp)
	programs := filepath.Join(tmp, "programs")
	blocks, err := readme()
	if err != nil {
		return 0, err
	}
	for _, script := range []string{
		blocks[buildBlock],
		// The server of objects, which the tests find in the user's cache then.
		"go test -count=1 -run TestServersStart/s3 github.com/ufs-stream/ufs-stream/internal/cloud/store/storetest",
	} {
		cmd := exec.Command("bash", "-ec", script) //nolint:noctx // go test bounds its time
		cmd.Env = append(os.Environ(), "BIN="+programs)
		if out, err := cmd.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%s: %w\n%s", script, err, out)
		}
	}
	run := func(flags uintptr) error {
		// go test wants a log of what a test reads, at a place in /tmp. Without it go test does
		// not keep the result, as is right: the result depends on the programs too.
		args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(arg string) bool { return strings.HasPrefix(arg, "-test.testlogfile=") })
		cmd := exec.Command("/proc/self/exe", args...) //nolint:noctx // go test bounds its time
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags, Pdeathsig: syscall.SIGKILL}
		cmd.Env = append(os.Environ(), insideVariable+"="+programs)
		if flags != 0 {
			cmd.Env = append(os.Environ(), insideVariable+"=/tmp/programs", "TMPDIR=", outerTemp+"="+tmp)
		}
		if flags&unix.CLONE_NEWUSER != 0 {
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
		}
		return cmd.Run()
	}
	runtime.LockOSThread() // Pdeathsig is of the thread that starts the process
	defer runtime.UnlockOSThread()
	err = run(unix.CLONE_NEWNET | unix.CLONE_NEWNS)
	if errors.Is(err, syscall.EPERM) {
		err = run(unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWUSER)
	}
	if errors.Is(err, syscall.EPERM) {
		fmt.Fprintln(os.Stderr, "this user may not make namespaces: the tests use the machine's own ports 50000 and 8073, and leave folders in /tmp")
		err = run(0)
	}
	if exited := (*exec.ExitError)(nil); errors.As(err, &exited) {
		return max(exited.ExitCode(), 1), nil
	}
	return 0, err
}

// outerTemp names the variable with the folder that becomes /tmp.
const outerTemp = "UFS_BEAM_TEST_TMP"

// enter sets up the namespaces that this process was started in, if it was.
func enter() error {
	tmp := os.Getenv(outerTemp)
	if tmp == "" {
		return nil
	}
	for _, step := range []func() error{
		func() error { return unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") },
		func() error { return unix.Mount(tmp, "/tmp", "", unix.MS_BIND, "") },
		loopbackUp,
	} {
		if err := step(); err != nil {
			return fmt.Errorf("set up the namespaces of the tests: %w", err)
		}
	}
	return nil
}

// loopbackUp turns on the interface lo, which is off in a new network.
func loopbackUp() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	request := struct {
		name  [unix.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{flags: unix.IFF_UP | unix.IFF_RUNNING}
	copy(request.name[:], "lo")
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(socket), unix.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return errno
	}
	return nil
}
