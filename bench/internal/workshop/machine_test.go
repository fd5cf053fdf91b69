package workshop

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

func TestCommitIsNamed(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	if got := commitHere(t.Context()); got != "" {
		t.Errorf("a folder without commits has %q", got)
	}
	for _, args := range [][]string{
		{"init", "-q"},
		{"-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "-q", "--no-gpg-sign", "--allow-empty", "-m", "first"},
	} {
		if _, _, err := RunChild(t.Context(), "git", args...); err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
	}
	if got := commitHere(t.Context()); !regexp.MustCompile(`^, commit [0-9a-f]{12}$`).MatchString(got) {
		t.Errorf("the commit is %q", got)
	}
}

func TestMachineIsNamed(t *testing.T) {
	m, err := ThisMachine()
	if err != nil || m.CPU == "" || m.Cores < 1 || m.Go == "" || m.Kernel == "" {
		t.Errorf("the machine is %+v (error %v), want all its fields", m, err)
	}
	file := filepath.Join(t.TempDir(), "info")
	if err := os.WriteFile(file, []byte("processor\t: 0\nmodel name\t: A: B\nMemTotal:       1024 kB\n"), 0o666); err != nil {
		t.Fatalf("writing the file: %v", err)
	}
	if got := procValue(file, "model name", ""); got != "A: B" {
		t.Errorf("model name is %q", got)
	}
	if got := procBytes(file, "MemTotal"); got != 1<<20 {
		t.Errorf("memory is %d", got)
	}
	if got := procValue(file+"x", "model name", "unknown"); got != "unknown" {
		t.Errorf("model name of no file is %q", got)
	}
}
