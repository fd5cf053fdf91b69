package slurmtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

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
