// Command licenses writes the licences of everything that is linked into the released programs for the released systems, which its copies have to carry: go run ./.ci/licenses FILE. A module without a licence is an error that names it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// systems are listed as in .goreleaser.yaml.
var systems = []string{"linux", "darwin", "windows", "freebsd"}

// programs are the packages of the released programs, by the folder of their module.
var programs = map[string][]string{".": {"./cmd/ufs-stream", "./bench/ufs-stream-bench"}, "cmd/ufs-iceberg": {"."}}

// own is the path of this repository's module, which ufs-iceberg is linked from too.
const own = "github.com/ufs-stream/ufs-stream"

// elsewhere are modules without a file of their own for the licence, and the file that states it.
var elsewhere = map[string]string{
	"github.com/JohnCGriffin/overflow": "README.md", // MIT, at its end; Arrow needs the module
}

// licenseName matches the files that a licence or a notice which it asks for is in.
var licenseName = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright|notice|patents)(\.txt|\.md|[-_][a-z0-9.]+)?$`)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: licenses FILE")
		os.Exit(2)
	}
	if err := writeLicenses(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func writeLicenses(path string) error {
	linked, err := linkedModules(context.Background())
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := printLicenses(&b, linked); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// module is a module of which packages are linked.
type module struct {
	Path, Version, Dir string
	Main               bool
	packages           []string // their folders
}

// linkedModules returns the modules of the programs on any of the systems, and Go's own library, which has the version of Go.
func linkedModules(ctx context.Context) (map[string]*module, error) {
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	dir := strings.TrimSpace(string(goroot))
	linked := map[string]*module{"Go": {Path: "Go", Version: runtime.Version(), Dir: dir, packages: []string{dir}}}
	for _, system := range systems {
		for folder, packages := range programs {
			if err := addModules(ctx, linked, system, folder, packages); err != nil {
				return nil, err
			}
		}
	}
	return linked, nil
}

// addModules adds the modules of packages to linked, by path and version: programs may have different versions of a module.
func addModules(ctx context.Context, linked map[string]*module, system, folder string, packages []string) error {
	list := exec.CommandContext(ctx, "go", append([]string{"list", "-deps", "-json=Dir,Module"}, packages...)...)
	list.Dir, list.Env, list.Stderr = folder, append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"), os.Stderr
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("go list for %s: %w", system, err)
	}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			Dir    string
			Module *module
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if p.Module == nil || p.Module.Main || p.Module.Path == own {
			continue
		}
		key := p.Module.Path + " " + p.Module.Version
		if linked[key] == nil {
			linked[key] = p.Module
		}
		linked[key].packages = append(linked[key].packages, p.Dir)
	}
}

// printLicenses writes the texts of all modules, in the order of their paths, and names all that have none.
func printLicenses(w io.Writer, linked map[string]*module) error {
	var without []error
	paths := make([]string, 0, len(linked))
	for path := range linked {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	fmt.Fprintf(w, "The licences of the %d modules that the programs are linked from, Go's own library among them.\n", len(paths))
	for _, path := range paths {
		m := linked[path]
		files, err := licenseFiles(m)
		if err != nil {
			return err
		}
		if len(files) == 0 {
			without = append(without, fmt.Errorf("%s %s has no licence in %s: replace the module, or tell in .ci/licenses where its licence is stated", m.Path, m.Version, m.Dir))
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(m.Dir, file)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "\n%s\n%s %s: %s\n\n%s\n", strings.Repeat("=", 80), m.Path, m.Version, filepath.ToSlash(name), strings.TrimSpace(string(text)))
		}
	}
	return errors.Join(without...)
}

// licenseFiles are the files that hold for the linked packages of a module: in their folders and those above.
func licenseFiles(m *module) (files []string, err error) {
	seen := map[string]bool{}
	for _, dir := range m.packages {
		for ; !seen[dir] && strings.HasPrefix(dir, m.Dir); dir = filepath.Dir(dir) {
			seen[dir] = true
			entries, err := os.ReadDir(dir)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				if e.Type().IsRegular() && (licenseName.MatchString(e.Name()) || dir == m.Dir && e.Name() == elsewhere[m.Path]) {
					files = append(files, filepath.Join(dir, e.Name()))
				}
			}
		}
	}
	slices.Sort(files)
	return files, nil
}
