package main

import (
	"path/filepath"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/testing/fixtures"
)

// TestRealCSV: MNIST's digits as CSV give the selection of their Parquet, within 300 MiB.
func TestRealCSV(t *testing.T) {
	data := fixtures.DatasetPath(t, "mnist10k.parquet")
	dir := t.TempDir()
	all, text := filepath.Join(dir, "all.json"), filepath.Join(dir, "mnist.csv")
	must(t, "select", data, "--label", "label", "--method", "variance", "-k", "668", "-o", all)
	must(t, "apply", data, "--selection", all, "--also", "label", "-o", text)
	args := []string{"--label", "label", "--method", "greedy", "-k", "20", "--format", "names"}
	want := must(t, append([]string{"select", data}, args...)...)
	if got := must(t, append([]string{"select", text, "--memory-limit", "300MiB"}, args...)...); got != want {
		t.Errorf("CSV gives\n%sParquet\n%s", got, want)
	}
}
