package quality

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/app/suggest"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
)

// appendSelections appends a variant for each folder of the files at the paths: the choices of another tool, by the names
// of the sets. A path may be such a folder. memory is the limit of reading a file.
func appendSelections(ctx context.Context, variants []variant, paths []string, memory int64) ([]variant, error) {
	files, err := listFiles("selections", paths, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		read, err := ufs.ReadNamedSelections(ctx, []ufs.NamedSelection{{Path: file}}, chunkio.FetchOptions{Memory: memory})
		if err != nil {
			return nil, err
		}
		if len(read) != 1 {
			return nil, stream.Usagef("quality: --selections %s: it has %d settings; give one selection for a set", file, len(read))
		}
		sel := read[0].Selection
		slices.SortStableFunc(sel.Selected, func(a, b stream.Selected) int { return cmp.Compare(a.Rank, b.Rank) })
		folder, err := filepath.Abs(filepath.Dir(file))
		if err != nil {
			return nil, err
		}
		tool, set := filepath.Base(folder), strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		i := slices.IndexFunc(variants, func(v variant) bool { return v.name == tool })
		if i < 0 {
			i, variants = len(variants), append(variants, variant{name: tool, lists: make(map[string]*stream.Selection)})
		}
		switch v := variants[i]; {
		case v.lists == nil:
			return nil, stream.Usagef("quality: --selections %s: %s is the name of a variant; name the folder after the tool", file, tool)
		case v.lists[set] != nil:
			return nil, stream.Usagef("quality: --selections %s: there is another selection of %s for %s", file, tool, set)
		}
		variants[i].lists[set] = sel
	}
	return variants, nil
}

func (j *scoringRows) refuseUnknownOrRepeated(sel *stream.Selection) error {
	var names []string
	isUnused := make(map[string]bool, len(j.columns))
	for _, c := range j.columns {
		names, isUnused[c.Name] = append(names, c.Name), true
	}
	for _, f := range sel.Selected {
		switch unused, known := isUnused[f.Name]; {
		case !known:
			return fmt.Errorf("the selection has the feature %q, which the set does not have%s", f.Name, suggest.DidYouMean(f.Name, names))
		case !unused:
			return fmt.Errorf("the selection has the feature %q twice", f.Name)
		}
		isUnused[f.Name] = false
	}
	return nil
}

// listFiles returns the files among the inputs of a flag, and the files in their folders whose names the condition
// accepts.
func listFiles(what string, inputs []string, accepts func(name string) bool) (paths []string, err error) {
	for _, input := range inputs {
		if info, err := os.Stat(input); err == nil && !info.IsDir() {
			paths = append(paths, input)
			continue
		}
		entries, err := os.ReadDir(input)
		if err != nil {
			return nil, &stream.DataError{Path: input, RowGroup: -1, Row: -1, Err: err, Remedy: stream.Textf("name files of %s, or folders of such files", what)}
		}
		for _, e := range entries {
			if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") && accepts(e.Name()) {
				paths = append(paths, filepath.Join(input, e.Name()))
			}
		}
	}
	return paths, nil
}
