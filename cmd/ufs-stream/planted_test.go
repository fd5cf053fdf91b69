//go:build unix

package main

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	sure "github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// TestPlantedByAnother: in a shared folder such as /tmp, another user puts links to a file of this user wherever runs
// leave finished work. The runs write their outputs as usual, and report the links that they ignore.
func TestPlantedByAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("not root: nobody else can plant anything")
		return
	}
	dir := t.TempDir()
	shared, secret, demo := filepath.Join(dir, "shared"), filepath.Join(dir, "secret"), filepath.Join(dir, "demo")
	sure.Do(t, os.Chmod(filepath.Dir(dir), 0o755))
	sure.Do(t, os.Mkdir(secret, 0o700))
	sure.Do(t, os.WriteFile(filepath.Join(secret, "authorized_keys"), []byte("ssh-ed25519 AAAA"), 0o600))
	sure.Do(t, os.Mkdir(shared, 0o700))
	sure.Do(t, os.Chmod(shared, 0o777|fs.ModeSticky))
	must(t, "demo", "--keep", demo)
	plant := exec.Command("/bin/sh", "-c", `umask 0
		for out in out.parquet folder out.csv; do
			temp=.$out.1-00000001.ufs-tmp
			mkdir $temp
			for name in .ufs-output .ufs-finished planted.parquet; do ln -s "$1/authorized_keys" $temp/$name; done
		done
		ln -s "$1" selection.json.checkpoint`, "sh", secret)
	plant.Dir, plant.SysProcAttr = shared, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if said, err := plant.CombinedOutput(); err != nil || len(said) > 0 {
		t.Fatalf("nothing is planted: %s, %v", said, err)
	}
	for _, c := range []struct{ says, out, verb string }{
		{"belongs to another user", "out.parquet", "convert " + filepath.Join(demo, "planted.parquet")},
		{"belongs to another user", "folder", "convert " + demo},
		{"nothing is saved for an interruption", "selection.json", "select -k 3 " + demo},
	} {
		args := append(strings.Fields(c.verb), "-o")
		must(t, append(args, filepath.Join(dir, c.out))...)
		r := invoke(append(args, filepath.Join(shared, c.out))...)
		if r.code != exit.Done || !strings.Contains(r.err, c.says) {
			t.Errorf("%s: exit code %d, want something of %q:\n%s", c.out, r.code, c.says, r.err)
		}
		if got := sure.Files(t, secret); len(got) != 1 || got["authorized_keys"] != "ssh-ed25519 AAAA" {
			t.Fatalf("%s: the victim's folder has %d files, and in its own %.40q", c.out, len(got), got["authorized_keys"])
		}
		want, got := filepath.Join(dir, c.out), filepath.Join(shared, c.out)
		if c.out == "folder" {
			want, got = filepath.Join(want, "planted.parquet"), filepath.Join(got, "planted.parquet")
		}
		if want, got := read(t, want), read(t, got); c.out != "selection.json" && want != got || len(got) < len(want)/2 {
			t.Errorf("%s: %d bytes, want the %d of elsewhere", c.out, len(got), len(want))
		}
	}
}

// TestDemoFolders: what demo makes is this user's alone; a folder that is there keeps its mode, and a link in it
// that leads out of it is not followed.
func TestDemoFolders(t *testing.T) {
	dir := t.TempDir()
	there, victim := filepath.Join(dir, "there"), filepath.Join(dir, "victim")
	sure.Do(t, os.Mkdir(there, 0o700))
	sure.Do(t, os.Chmod(there, 0o755))
	sure.Do(t, os.Mkdir(victim, 0o700))
	for _, args := range [][]string{{"demo", "--keep"}, {"demo", "--telemetry", "--keep"}} {
		made := filepath.Join(dir, args[1])
		must(t, append(args, made)...)
		must(t, append(args, there)...)
		for path, want := range map[string]fs.FileMode{made: 0o700, there: 0o755} {
			if got := sure.Get(os.Stat(path))(t).Mode().Perm(); got != want {
				t.Errorf("%q: %s has mode %v, want %v", args, path, got, want)
			}
		}
	}
	site := filepath.Join(there, "site=north")
	if got := sure.Get(os.Stat(site))(t).Mode().Perm(); got != 0o700 {
		t.Errorf("%s has mode %v", site, got)
	}
	sure.Do(t, os.RemoveAll(site))
	sure.Do(t, os.Symlink(victim, site))
	ends(t, exit.Fault, site, "demo", "--telemetry", "--keep", there)
	if got := sure.Files(t, victim); len(got) > 0 {
		t.Errorf("behind a link there are %d files", len(got))
	}
}

// TestPlantedPipe: a pipe at the name of a chart or a page is refused, and not written to once somebody reads it.
func TestPlantedPipe(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	must(t, "demo", "--keep", at("demo"))
	must(t, "select", "-k", "3", at("demo"), "-o", at("selection.json"))
	for _, args := range [][]string{{"report", at("selection.json"), "--svg", at("charts")}, {"man", at("charts")}} {
		must(t, args...)
		made := sure.Get(os.ReadDir(at("charts")))(t)
		pipe := filepath.Join(at("charts"), made[len(made)-1].Name())
		sure.Do(t, os.Remove(pipe))
		sure.Do(t, syscall.Mkfifo(pipe, 0o600))
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if r := invokeWith(ctx, nil, args...); r.code != exit.Fault || !strings.Contains(r.err, pipe) || ctx.Err() != nil {
			t.Errorf("%q: exit code %d, want %d and something of %s:\n%s", args, r.code, exit.Fault, pipe, r.err)
		}
		cancel()
		sure.Do(t, os.RemoveAll(at("charts")))
	}
}
