package chunkio

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/ufs-stream/ufs-stream/internal/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
)

// outputLayout says which output file each input file becomes.
type outputLayout struct {
	single bool              // all inputs become the one output file
	place  map[string]string // else: input path → path below the output folder
}

const parquetEnding = ".parquet"

// arrange chooses the layout of Apply's output from its arguments and the files that
// they expand to.
func (a *access) arrange(ctx context.Context, inputs, paths []string, out string) (outputLayout, error) {
	if err := atomicfile.NotInput(out, paths...); err != nil {
		return outputLayout{}, err
	}
	roots, err := a.directories(ctx, inputs)
	if err != nil {
		return outputLayout{}, err
	}
	if len(roots) == 0 && (len(paths) == 1 || strings.EqualFold(filepath.Ext(out), parquetEnding)) {
		return outputLayout{single: true}, nil
	}
	l := outputLayout{place: make(map[string]string, len(paths))}
	taken := make(map[string]string, len(paths))
	common := commonFolder(paths)
	for _, p := range paths {
		base := common
		if len(roots) > 0 {
			base = filepath.Dir(p)
			for _, root := range roots {
				if strings.HasPrefix(p, withSeparator(root)) {
					base = root
				}
			}
		}
		rel, err := filepath.Rel(base, p)
		if err != nil {
			return outputLayout{}, stream.Dataf(p, "cannot place it below %s: %w", out, err)
		}
		if ext := filepath.Ext(rel); !strings.EqualFold(ext, parquetEnding) {
			rel = strings.TrimSuffix(rel, ext) + parquetEnding
		}
		if other, ok := taken[rel]; ok {
			return outputLayout{}, stream.Usagef("%s and %s would both become %s; apply them one by one, or to one file ({o} FILE.parquet)",
				other, p, filepath.Join(out, rel))
		}
		taken[rel], l.place[p] = p, rel
	}
	return l, nil
}

// directories lists the inputs that are directories, also those in lists.
func (a *access) directories(ctx context.Context, inputs []string) ([]string, error) {
	var roots []string
	for _, arg := range inputs {
		places, err := a.places(ctx, arg)
		if err != nil {
			return nil, err
		}
		for _, p := range places {
			local, err := localPath(p)
			if err != nil {
				return nil, err
			}
			if info, err := os.Stat(local); err == nil && info.IsDir() {
				roots = append(roots, filepath.Clean(local))
			}
		}
	}
	return roots, nil
}

// commonFolder is the innermost folder that all paths are below.
func commonFolder(paths []string) string {
	folder := filepath.Dir(paths[0])
	for _, p := range paths[1:] {
		for folder != "." && folder != filepath.Dir(folder) && !strings.HasPrefix(p, withSeparator(folder)) {
			folder = filepath.Dir(folder)
		}
	}
	return folder
}

func withSeparator(folder string) string {
	switch {
	case folder == ".":
		return ""
	case strings.HasSuffix(folder, string(filepath.Separator)):
		return folder
	}
	return folder + string(filepath.Separator)
}
