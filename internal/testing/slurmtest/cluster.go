// Package slurmtest starts a real Slurm for tests, with its own daemons, ports and folders: munged, slurmctld and one
// slurmd on 127.0.0.1, from Debian's packages. Several clusters may run at once, also on a machine that has its own
// Slurm. A cluster needs neither root nor systemd nor cgroups.
package slurmtest

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/testing/freeport"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// daemonTimeout is the longest time to wait until a daemon answers or ends. A daemon usually needs a second for this,
// but more on a busy machine.
const daemonTimeout = time.Minute

// Cluster is a running Slurm.
type Cluster struct {
	// Env contains the environment variables that a process needs to use this cluster, as "NAME=value".
	Env []string

	t       testing.TB
	dir     string
	daemons []*daemon
}

// StartCluster starts a cluster of one node with the given number of CPUs. At the end of the test it kills the jobs
// that remain and stops the cluster. It skips the test if Slurm is not installed.
func StartCluster(t testing.TB, cpus int) *Cluster {
	t.Helper()
	programs := findPrograms(t, "munged", "slurmctld", "slurmd", "sinfo", "sbatch", "scancel", "squeue")
	// t.TempDir is not used, because the path of a Unix socket may have at most 107 bytes.
	dir := must.Get(os.MkdirTemp("", "slurm"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, name := range []string{"state", "spool"} {
		must.Do(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	writeConfig(t, at("slurm.conf"), dir, cpus, freeport.FindPort(t), freeport.FindPort(t))
	c := &Cluster{Env: []string{"SLURM_CONF=" + at("slurm.conf")}, t: t, dir: dir}
	t.Cleanup(c.stopAll)

	key := make([]byte, 1024)
	_, _ = rand.Read(key) // never fails
	must.Do(t, os.WriteFile(at("munge.key"), key, 0o600))
	// --force is needed because only the user has access to the folder, and munged requires access for everyone.
	c.startDaemon(programs["munged"], "--foreground", "--force", "--key-file="+at("munge.key"), "--socket="+at("munge.socket"),
		"--pid-file="+at("munge.pid"), "--log-file="+at("munge.log"), "--seed-file="+at("munge.seed"))
	c.waitUntil("munged listens", func() bool { _, err := os.Stat(at("munge.socket")); return err == nil })
	c.startDaemon(programs["slurmctld"], "-D", "-i")
	c.startDaemon(programs["slurmd"], "-D", "-N", nodeName)
	c.waitUntil("the node is idle", func() bool { out, err := c.runCommand("sinfo", "-h", "-o", "%T"); return err == nil && out == "idle" })
	return c
}

// findPrograms returns the paths of programs, searching also in /usr/sbin. It skips the test if a program is missing.
func findPrograms(t testing.TB, names ...string) map[string]string {
	t.Helper()
	paths := map[string]string{}
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			path, err = exec.LookPath(filepath.Join("/usr/sbin", name))
		}
		if err != nil {
			t.Skipf("no %s: this test needs a Slurm (apt-get install --no-install-recommends slurmctld slurmd slurm-client munge)", name)
		}
		paths[name] = path
	}
	return paths
}

func (c *Cluster) newCommand(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...) //nolint:noctx // of a test
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Dir = c.dir
	return cmd
}

func (c *Cluster) runCommand(name string, args ...string) (string, error) {
	out, err := c.newCommand(name, args...).Output()
	return strings.TrimSpace(string(out)), err
}

// waitUntil waits until the function isSo returns true. It fails the test if a daemon ends, or if daemonTimeout has
// passed.
func (c *Cluster) waitUntil(what string, isSo func() bool) {
	c.t.Helper()
	for begin := time.Now(); time.Since(begin) < daemonTimeout; time.Sleep(20 * time.Millisecond) {
		for _, d := range c.daemons {
			select {
			case <-d.done:
				c.t.Fatalf("%s ended:\n%s", d.cmd.Path, c.DaemonLogs())
			default:
			}
		}
		if isSo() {
			return
		}
	}
	c.t.Fatalf("not within %v: %s\n%s", daemonTimeout, what, c.DaemonLogs())
}

// stopAll kills the remaining jobs and then stops the daemons. The jobs must end first, because the processes of their
// steps are not children of slurmd, and would not end with it.
func (c *Cluster) stopAll() {
	if c.t.Failed() {
		c.t.Logf("Slurm's daemons said:\n%s", c.DaemonLogs())
	}
	if len(c.daemons) == 3 {
		for begin := time.Now(); time.Since(begin) < daemonTimeout; time.Sleep(100 * time.Millisecond) {
			left, err := c.runCommand("squeue", "-h", "-o", "%A")
			if err != nil || left == "" {
				break
			}
			_, _ = c.runCommand("scancel", strings.Fields(left)...) // it fails for jobs that have just ended
		}
	}
	for i := len(c.daemons) - 1; i >= 0; i-- {
		c.daemons[i].stopDaemon()
	}
}

// DaemonLogs returns the end of the output of each daemon, for the message of a failing test.
func (c *Cluster) DaemonLogs() string {
	var b strings.Builder
	for _, d := range c.daemons {
		text, err := os.ReadFile(d.log)
		fmt.Fprintf(&b, "-- %s (%v)\n%s\n", d.log, err, text[max(0, len(text)-10_000):])
	}
	return b.String()
}

// daemon is a daemon's process, which runs in the foreground and writes its output to the file log.
type daemon struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{}
}

func (c *Cluster) startDaemon(program string, args ...string) {
	c.t.Helper()
	d := &daemon{cmd: c.newCommand(program, args...), log: filepath.Join(c.dir, filepath.Base(program)+".log"), done: make(chan struct{})}
	log := must.Get(os.Create(d.log))(c.t)
	defer log.Close()
	d.cmd.Stdout, d.cmd.Stderr = log, log
	dieWithParent(d.cmd)
	must.Do(c.t, d.cmd.Start())
	go func() { defer close(d.done); _ = d.cmd.Wait() }()
	c.daemons = append(c.daemons, d)
}

func (d *daemon) stopDaemon() {
	_ = d.cmd.Process.Signal(syscall.SIGTERM) // an error means that it has already ended
	select {
	case <-d.done:
	case <-time.After(daemonTimeout):
		_ = d.cmd.Process.Kill()
		<-d.done
	}
}
