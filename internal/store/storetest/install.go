package storetest

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/must"
)

// Where this machine's user has his things, in an environment that Alone has changed.
const (
	homeVariable  = "UFS_STREAM_TEST_HOME"
	cacheVariable = "UFS_STREAM_TEST_CACHE"
)

func userHome() string { return cmp.Or(os.Getenv(homeVariable), os.Getenv("HOME")) }

// tool is a command with the user's own home.
func tool(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...) //nolint:noctx // of a test
	cmd.Env = append(os.Environ(), "HOME="+userHome())
	return cmd
}

// goTool finds a program that is a Go module, or builds it into the user's cache.
func goTool(t testing.TB, name, module string) string {
	t.Helper()
	gopath := strings.TrimSpace(string(must.Get(tool("go", "env", "GOPATH").Output())(t)))
	cache := cacheDir(t)
	if found := find(name, filepath.Join(gopath, "bin"), cache); found != "" {
		return found
	}
	// Several packages' tests may build it at once: each into its own folder, then renamed.
	own := must.Get(os.MkdirTemp(cache, "build"))(t)
	defer os.RemoveAll(own)
	cmd := tool("go", "install", module)
	cmd.Dir = own
	cmd.Env = append(cmd.Env, "GOBIN="+own, "GOFLAGS=", "CGO_ENABLED=0", "GOOS=", "GOARCH=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go install %s: %v\n%s", module, err, out)
	}
	must.Do(t, os.Rename(filepath.Join(own, name), filepath.Join(cache, name)))
	return filepath.Join(cache, name)
}

// nodeTool finds a program that is an npm package, or installs it into the user's cache.
func nodeTool(t testing.TB, name, module string) string {
	t.Helper()
	cache := cacheDir(t)
	bin := filepath.Join("node_modules", ".bin")
	if found := find(name, filepath.Join(cache, "node", bin)); found != "" {
		return found
	}
	own := must.Get(os.MkdirTemp(cache, "build"))(t)
	defer os.RemoveAll(own)
	cmd := tool("npm", "install", "--no-audit", "--no-fund", "--prefix", own, module)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm install %s: %v\n%s", module, err, out)
	}
	if err := os.Rename(own, filepath.Join(cache, "node")); err != nil && find(name, filepath.Join(cache, "node", bin)) == "" {
		t.Fatal(err)
	}
	return filepath.Join(cache, "node", bin, name)
}

// find looks for a program on PATH and then in folders; "" where it is not.
func find(name string, folders ...string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, folder := range folders {
		path := filepath.Join(folder, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return path
		}
	}
	return ""
}

// cacheDir is where programs for tests are kept.
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
