package scale

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ufs-stream/ufs-stream/bench/internal/workshop"
)

// findDuckDB adds DuckDB's sum to the measurements if --duckdb names a program that exists. Otherwise it reports that
// the sum is omitted.
func (r *speedRun) findDuckDB(ctx context.Context) error {
	if r.duckDB == "" {
		return nil
	}
	path, err := exec.LookPath(r.duckDB)
	if err != nil {
		r.recordSkip("DuckDB's sum: --duckdb %s is not installed: %v", r.duckDB, err)
		return nil
	}
	out, _, err := workshop.RunChild(ctx, path, duckDBArgs("SELECT version()")...)
	if err != nil {
		return err
	}
	r.duckDB, r.duckDBVersion = path, strings.TrimSpace(string(out))
	r.readers = append(r.readers, duckDBSum)
	return nil
}

func duckDBArgs(statements string) []string { return []string{"-csv", "-noheader", "-c", statements} }

func sumStatements(threads int, inputs []string, label string) string {
	var files []string
	for _, path := range inputs {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path = filepath.Join(path, "**", "*.parquet")
		}
		files = append(files, "'"+strings.ReplaceAll(path, "'", "''")+"'")
	}
	columns := "*"
	if label != "" {
		columns = `* EXCLUDE ("` + strings.ReplaceAll(label, `"`, `""`) + `")`
	}
	return fmt.Sprintf("SET threads = %d; SELECT sum(COLUMNS(%s)) FROM read_parquet([%s])", threads, columns, strings.Join(files, ", "))
}
