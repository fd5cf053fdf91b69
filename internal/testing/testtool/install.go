// Package testtool finds the programs that tests need. It installs a missing program into the user's cache, in the
// version that the test requires.
package testtool

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// Environment variables that contain the user's real folders, for a test that changes HOME.
const (
	homeVariable  = "UFS_STREAM_TEST_HOME"
	cacheVariable = "UFS_STREAM_TEST_CACHE"
)

// CacheEnvironment returns environment variables with which a test finds the programs even if it changes HOME.
func CacheEnvironment(t testing.TB) map[string]string {
	return map[string]string{cacheVariable: cacheDir(t), homeVariable: userHome()}
}

func userHome() string { return cmp.Or(os.Getenv(homeVariable), os.Getenv("HOME")) }

// GoProgram returns the path of a program in the user's cache. If it is missing, it is built from a Go module.
func GoProgram(t testing.TB, name, module, version string) string {
	t.Helper()
	return installOnce(t, name, version, name, func(dir string) *exec.Cmd {
		cmd := exec.Command("go", "install", module+"@"+version) //nolint:noctx // of a test
		cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=", "CGO_ENABLED=0", "GOOS=", "GOARCH=")
		return cmd
	})
}

// NodeProgram returns the path of a program in the user's cache. If it is missing, its npm package is installed.
func NodeProgram(t testing.TB, name, module, version string) string {
	t.Helper()
	return installNodePackage(t, module, version, filepath.Join("node_modules", ".bin", name))
}

// NodeModule returns the folder of an npm package in the user's cache. If it is missing, it is installed, together with
// packages of the same version that npm does not find by itself.
func NodeModule(t testing.TB, module, version string, others ...string) string {
	t.Helper()
	return installNodePackage(t, module, version, filepath.Join("node_modules", filepath.FromSlash(module)), others...)
}

func installNodePackage(t testing.TB, module, version, path string, others ...string) string {
	t.Helper()
	for _, needed := range []string{"npm", "node"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skipf("%s is not on PATH, and %s, which this test needs, is for Node: install Node to run the test", needed, module)
		}
	}
	return installOnce(t, filepath.Base(module), version, path, func(dir string) *exec.Cmd {
		cmd := exec.Command("npm", "install", "--no-audit", "--no-fund", "--prefix", dir, module+"@"+version) //nolint:noctx // of a test
		for _, other := range others {
			cmd.Args = append(cmd.Args, other+"@"+version)
		}
		cmd.Env = os.Environ()
		return cmd
	})
}

// installOnce returns the path of a program in the cache folder of its name and version. If the program is missing, it
// runs the command that install returns, which must install the program into the folder dir.
func installOnce(t testing.TB, name, version, program string, install func(dir string) *exec.Cmd) string {
	t.Helper()
	cache := cacheDir(t)
	folder := filepath.Join(cache, name+"@"+version)
	path := filepath.Join(folder, program)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	// Tests of several packages may need the program at the same time. One of these installs it, and the others wait.
	lock := must.Get(os.Create(folder + ".lock"))(t)
	defer lock.Close()
	must.Do(t, lockFile(lock))
	if _, err := os.Stat(path); err == nil {
		return path
	}
	own := must.Get(os.MkdirTemp(cache, "build"))(t)
	defer os.RemoveAll(own)
	cmd := install(own)
	cmd.Dir = own
	cmd.Env = append(cmd.Env, "HOME="+userHome())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	if err := os.Rename(own, folder); err != nil {
		if _, missing := os.Stat(path); missing != nil { // without locks, another process may have been faster
			t.Fatal(err)
		}
	}
	return path
}

func cacheDir(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv(cacheVariable); dir != "" {
		return dir
	}
	dir := filepath.Join(must.Get(os.UserCacheDir())(t), "ufs-stream-tests")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(fmt.Errorf("a folder for the servers of tests: %w", err))
	}
	return dir
}
