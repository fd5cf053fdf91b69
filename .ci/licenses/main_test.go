package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestModuleWithoutLicense: a module without a licence is an error that names it; a file in the folder of a linked package, or
// above, is one, and one beside them is not.
func TestModuleWithoutLicense(t *testing.T) {
	for file, want := range map[string]bool{
		"LICENSE": true, "a/b/LICENSE.txt": true, "a/COPYING": true, "UNLICENSE": true, "License.txt": true, "LICENCE-MIT": true, "LICENSE_APACHE": true,
		"c/LICENSE": false, "README.md": false, "license.go": false, "unlicensed.txt": false,
	} {
		dir := t.TempDir()
		inner := filepath.Join(dir, "a", "b")
		for _, folder := range []string{inner, filepath.Join(dir, "c")} {
			if err := os.MkdirAll(folder, 0o777); err != nil {
				t.Fatalf("got error %v, want none", err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(file)), []byte("Do as you like."), 0o666); err != nil {
			t.Fatalf("got error %v, want none", err)
		}
		var b strings.Builder
		err := printLicenses(&b, map[string]*module{"example.com/x": {Path: "example.com/x", Version: "v1.2.3", Dir: dir, packages: []string{inner}}})
		if got := err == nil && strings.Contains(b.String(), "example.com/x v1.2.3: "+file+"\n\nDo as you like."); got != want {
			t.Errorf("%s is a licence: %t, want %t: %v\n%s", file, got, want, err, &b)
		}
		if !want && (err == nil || !strings.Contains(err.Error(), "example.com/x v1.2.3 has no licence")) {
			t.Errorf("%s: %v, want an error that names the module", file, err)
		}
	}
}

// TestEveryModuleHasALicense: the modules of the programs have, those that are linked on one system only too.
func TestEveryModuleHasALicense(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	linked, err := linkedModules(t.Context())
	if err != nil {
		t.Fatalf("got error %v, want none", err)
	}
	var b strings.Builder
	if err := printLicenses(&b, linked); err != nil {
		t.Errorf("got error %v, want none", err)
	}
	if strings.Contains(b.String(), "\n"+own+" v") {
		t.Errorf("%s is among the modules of others", own)
	}
	for _, want := range []string{"\nGo go1.", "\ngithub.com/apache/arrow/go/v15 v", "\ngithub.com/JohnCGriffin/overflow v", "MIT License", "\ngolang.org/x/sys v", "\ngithub.com/apache/arrow-go/v18 v", "\ngithub.com/apache/iceberg-go v"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q among the licences of %d modules", want, len(linked))
		}
	}
}
