package gates

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/ufs-stream/ufs-stream/internal/must"
)

// mayImport is the package table of the design: which packages of this module
// each one may import. A package that is not listed here does not belong.
var mayImport = map[string][]string{
	"stream":             {},
	"internal/splitmix":  {},
	"internal/words":     {},
	"internal/agree":     {},
	"internal/suggest":   {},
	"internal/shell":     {},
	"internal/faults":    {}, // of tests, in the packages that touch files
	"internal/ownfile":   {}, // names in folders that others may write
	"internal/localfile": {"internal/faults", "internal/ownfile"},
	"internal/screen":    {}, // what terminals show
	"internal/gates":     {},
	"internal/kernel":    {},
	"internal/room":      {},
	"internal/jsonsize":  {},

	// Of tests.
	"internal/must":              {},
	"internal/leaktest":          {},
	"internal/browsertest":       {},
	"internal/fixtures":          {},
	"internal/forged":            {},
	"internal/freeport":          {"internal/must"},
	"internal/testtool":          {"internal/must"},
	"internal/duckdb":            {},
	"internal/duckdbtest":        {"internal/duckdb", "internal/testtool"},
	"internal/slurmtest":         {"internal/freeport", "internal/must"},
	"internal/tabletest":         {"stream", "internal/must"},
	"internal/words/wordstest":   {"internal/words"},
	"internal/resume/resumetest": {"stream", "chunkio/scratch", "internal/resume", "internal/must"},
	"internal/room/roomtest":     {},
	"internal/rows/rowstest":     {"stream", "gram", "anchor", "internal/rows", "internal/must"},

	"internal/linalg":          {"internal/kernel", "internal/room", "internal/splitmix"},
	"internal/halves":          {"stream", "internal/kernel", "internal/splitmix", "internal/words"},
	"internal/positions":       {"stream", "internal/words"},
	"internal/condition":       {"stream"}, // the language of conditions on rows
	"internal/store":           {"stream", "internal/suggest"},
	"internal/store/storetest": {"internal/freeport", "internal/must", "internal/testtool"},
	"internal/store/claim":     {"stream", "internal/store"},                                      // who writes an object last
	"internal/place":           {"stream", "internal/screen", "internal/store", "internal/shell"}, // what an argument names
	"internal/atomicfile":      {"stream", "internal/faults", "internal/ownfile", "internal/store", "internal/store/claim", "internal/place"},
	"internal/planfile":        {"stream", "internal/jsonsize"},
	"internal/resume":          {"stream", "chunkio", "chunkio/scratch", "internal/atomicfile", "internal/ownfile"}, // what a run goes on from
	"internal/planted":         {"stream", "internal/splitmix"},
	"internal/scalemodel":      {},

	// The rooms of chunkio: arrows go one way.
	"chunkio/internal/naming":      {"stream", "chunkio/internal/format", "chunkio/internal/glob", "internal/suggest"},
	"chunkio/internal/storage":     {"stream", "chunkio/internal/format", "chunkio/internal/ipc", "chunkio/internal/parquet", "chunkio/scratch", "internal/atomicfile", "internal/localfile", "internal/place", "internal/store"},
	"chunkio/internal/cache":       {"chunkio/internal/format", "internal/kernel"},
	"chunkio/internal/settings":    {"stream", "chunkio/internal/cache", "chunkio/internal/intake", "chunkio/scratch", "internal/place"},
	"chunkio/internal/opening":     {"stream", "chunkio/internal/format", "chunkio/internal/glob", "chunkio/internal/intake", "chunkio/internal/ipc", "chunkio/internal/naming", "chunkio/internal/parquet", "chunkio/internal/settings", "chunkio/internal/storage", "chunkio/internal/svm", "chunkio/scratch", "internal/atomicfile", "internal/place", "internal/planfile", "internal/store", "internal/suggest"},
	"chunkio/internal/listing":     {"stream", "chunkio/internal/delta", "chunkio/internal/format", "chunkio/internal/glob", "chunkio/internal/intake", "chunkio/internal/opening", "chunkio/internal/storage", "chunkio/internal/svm", "internal/atomicfile", "internal/localfile", "internal/place", "internal/planfile", "internal/store", "internal/suggest"},
	"chunkio/internal/catalog":     {"stream", "chunkio/internal/delta", "chunkio/internal/format", "chunkio/internal/intake", "chunkio/internal/ipc", "chunkio/internal/listing", "chunkio/internal/naming", "chunkio/internal/opening", "chunkio/internal/parquet", "chunkio/internal/settings", "chunkio/internal/storage", "chunkio/internal/text", "chunkio/internal/where", "chunkio/scratch", "internal/condition", "internal/place", "internal/splitmix", "internal/store", "internal/suggest"},
	"chunkio/internal/schema":      {"stream", "chunkio/internal/catalog", "chunkio/internal/format", "chunkio/internal/intake", "chunkio/internal/naming", "chunkio/internal/settings", "internal/suggest"},
	"chunkio/internal/plans":       {"stream", "chunkio/internal/catalog", "chunkio/internal/format", "chunkio/internal/listing", "chunkio/internal/opening", "chunkio/internal/settings", "chunkio/internal/storage", "chunkio/internal/where", "internal/atomicfile", "internal/place", "internal/planfile", "internal/store"},
	"chunkio/internal/pipeline":    {"stream", "chunkio/internal/cache", "chunkio/internal/catalog", "chunkio/internal/format", "chunkio/internal/intake", "chunkio/internal/ipc", "chunkio/internal/listing", "chunkio/internal/naming", "chunkio/internal/opening", "chunkio/internal/schema", "chunkio/internal/settings", "chunkio/internal/storage", "chunkio/internal/text", "chunkio/internal/where", "chunkio/scratch", "internal/kernel", "internal/suggest"},
	"chunkio/internal/writing":     {"stream", "chunkio/internal/format", "chunkio/internal/parquet", "chunkio/internal/writer", "internal/atomicfile"},
	"chunkio/internal/dataset":     {"stream", "chunkio/internal/catalog", "chunkio/internal/listing", "chunkio/internal/naming", "chunkio/internal/opening", "chunkio/internal/pipeline", "chunkio/internal/plans", "chunkio/internal/settings", "chunkio/internal/storage"},
	"chunkio/internal/statsfile":   {"stream", "chunkio/internal/glob", "chunkio/internal/listing", "chunkio/internal/storage", "internal/atomicfile", "internal/jsonsize", "internal/place", "internal/store"},
	"chunkio/internal/copying":     {"stream", "chunkio/internal/catalog", "chunkio/internal/copier", "chunkio/internal/dataset", "chunkio/internal/export", "chunkio/internal/format", "chunkio/internal/intake", "chunkio/internal/ipc", "chunkio/internal/listing", "chunkio/internal/naming", "chunkio/internal/opening", "chunkio/internal/parquet", "chunkio/internal/pipeline", "chunkio/internal/schema", "chunkio/internal/settings", "chunkio/internal/storage", "chunkio/internal/svm", "chunkio/internal/text", "chunkio/internal/writer", "chunkio/internal/writing", "chunkio/scratch", "internal/atomicfile", "internal/place", "internal/store", "internal/suggest"},
	"chunkio":                      {"stream", "chunkio/internal/cache", "chunkio/internal/catalog", "chunkio/internal/copying", "chunkio/internal/dataset", "chunkio/internal/listing", "chunkio/internal/naming", "chunkio/internal/opening", "chunkio/internal/plans", "chunkio/internal/schema", "chunkio/internal/settings", "chunkio/internal/statsfile", "chunkio/internal/storage", "chunkio/internal/writing"},
	"chunkio/internal/chunkiotest": {"stream", "chunkio/internal/*", "internal/fixtures", "internal/must"}, // of tests

	// The formats of chunkio.
	"chunkio/scratch":             {"stream", "internal/atomicfile", "internal/faults", "internal/ownfile"},
	"chunkio/internal/copier":     {"stream", "chunkio/internal/*"},
	"chunkio/internal/delta":      {"stream", "chunkio/internal/format", "chunkio/internal/parquet"},
	"chunkio/internal/export":     {"stream", "chunkio/internal/format", "chunkio/internal/parquet", "chunkio/internal/text"},
	"chunkio/internal/glob":       {},
	"chunkio/internal/format":     {"stream", "chunkio/internal/text"},
	"chunkio/internal/formattest": {"stream", "chunkio/internal/format", "chunkio/internal/text"},
	"chunkio/internal/intake":     {"stream", "chunkio/internal/*", "internal/room", "internal/shell", "internal/suggest"},
	"chunkio/internal/ipc":        {"stream", "chunkio/internal/format", "chunkio/internal/text", "internal/room"},
	"chunkio/internal/parquet":    {"stream", "chunkio/internal/format", "chunkio/internal/text", "internal/kernel", "internal/room"},
	"chunkio/internal/svm":        {"stream", "chunkio/internal/format", "chunkio/internal/text"},
	"chunkio/internal/text":       {},
	"chunkio/internal/where":      {"stream", "internal/condition", "chunkio/internal/format", "chunkio/internal/text"},
	"chunkio/internal/writer":     {"stream", "chunkio/internal/format", "chunkio/internal/parquet"},

	"gram":               {"stream", "internal/kernel", "internal/room", "internal/splitmix", "internal/words"},
	"cluster":            {"stream", "internal/kernel", "internal/room"},
	"anchor":             {"stream", "gram", "cluster", "internal/kernel", "internal/linalg", "internal/room", "internal/words", "internal/splitmix"},
	"internal/hygiene":   {"stream", "gram", "internal/kernel", "internal/splitmix", "internal/words"},
	"internal/rows":      {"stream", "internal/kernel", "internal/room"},
	"internal/spectral":  {"stream", "anchor", "internal/kernel", "internal/linalg"},
	"internal/rowsample": {"stream", "anchor", "internal/words", "internal/splitmix"},
	"internal/ridge":     {"gram", "internal/kernel", "internal/linalg"},
	"internal/survey":    {"stream", "gram", "anchor", "internal/kernel", "internal/room", "internal/spectral", "internal/splitmix"}, // what a sample of rows says of a table
	"method":             {"stream", "gram", "anchor", "internal/suggest"},
	"align":              {"stream", "gram", "anchor", "method", "internal/kernel", "internal/spectral", "internal/splitmix", "internal/survey"},

	// The methods: the mathematics, and its declaration. None imports another.
	"baseline":       {"stream", "gram", "anchor", "cluster", "method", "internal/kernel", "internal/spectral", "internal/splitmix"},
	"sfufs":          {"stream", "gram", "anchor", "cluster", "method", "internal/kernel", "internal/linalg"},
	"eufs":           {"stream", "gram", "anchor", "cluster", "method", "internal/kernel", "internal/linalg", "internal/localfile", "internal/room", "internal/rows", "internal/suggest"},
	"cpufs":          {"stream", "gram", "anchor", "cluster", "method", "internal/kernel", "internal/linalg", "internal/rows"},
	"fsfs":           {"stream", "gram", "method", "internal/kernel"},
	"socfs":          {"stream", "gram", "anchor", "cluster", "method", "internal/kernel", "internal/linalg", "internal/ridge", "internal/spectral"},
	"u2fs":           {"stream", "gram", "anchor", "method", "internal/kernel", "internal/linalg", "internal/spectral"},
	"udfs":           {"stream", "gram", "method", "internal/kernel", "internal/linalg", "internal/rows"},
	"rufs":           {"stream", "gram", "cluster", "method", "internal/kernel", "internal/linalg", "internal/room", "internal/rows"},
	"spec":           {"stream", "gram", "anchor", "method", "internal/kernel", "internal/linalg", "internal/spectral"},
	"jelsr":          {"stream", "gram", "anchor", "cluster", "method", "internal/kernel", "internal/linalg", "internal/ridge", "internal/spectral"},
	"methods":        {"stream", "method", "align", "greedy", "baseline", "sfufs", "eufs", "cpufs", "fsfs", "socfs", "u2fs", "udfs", "rufs", "spec", "jelsr", "internal/suggest"},
	"internal/trust": {"align", "anchor", "internal/kernel", "internal/room", "internal/spectral", "internal/splitmix", "internal/survey", "stream"},

	// The rooms of greedy: arrows go one way.
	"greedy/selection":           {"stream", "gram", "method"},
	"greedy/internal/tasks":      {},
	"greedy/internal/greedytest": {"stream", "gram", "anchor", "method", "greedy/selection", "internal/must", "internal/rows/rowstest"}, // of tests
	"greedy/internal/target":     {"stream", "gram", "anchor", "greedy/selection", "greedy/internal/tasks", "internal/kernel", "internal/linalg", "internal/spectral"},
	"greedy/internal/engine":     {"stream", "gram", "method", "greedy/selection", "greedy/internal/target", "greedy/internal/tasks", "internal/kernel", "internal/linalg"},
	"greedy/internal/blocks":     {"stream", "method", "greedy/selection", "greedy/internal/engine", "greedy/internal/target", "greedy/internal/tasks", "internal/kernel"},
	"greedy/internal/refine":     {"stream", "gram", "greedy/selection", "greedy/internal/engine", "greedy/internal/target", "greedy/internal/tasks", "internal/kernel", "internal/linalg"},
	"greedy/internal/inmemory":   {"stream", "gram", "greedy/selection", "greedy/internal/blocks", "greedy/internal/engine", "greedy/internal/refine", "greedy/internal/target", "internal/kernel"},
	"greedy/internal/scan":       {"stream", "gram", "method", "greedy/selection", "greedy/internal/tasks", "internal/kernel", "internal/room", "internal/rows", "internal/splitmix"},
	"greedy/internal/triangle":   {"greedy/internal/scan", "greedy/internal/tasks", "internal/kernel", "internal/room"},
	"greedy/internal/outofcore":  {"stream", "gram", "method", "greedy/selection", "greedy/internal/blocks", "greedy/internal/engine", "greedy/internal/refine", "greedy/internal/scan", "greedy/internal/target", "greedy/internal/tasks", "greedy/internal/triangle", "internal/kernel", "internal/room", "internal/rows"},
	"greedy/internal/sketching":  {"stream", "gram", "greedy/selection", "greedy/internal/blocks", "greedy/internal/engine", "greedy/internal/inmemory", "greedy/internal/refine", "greedy/internal/scan", "greedy/internal/target", "internal/kernel"},
	"greedy":                     {"stream", "gram", "anchor", "method", "greedy/selection", "greedy/internal/blocks", "greedy/internal/engine", "greedy/internal/inmemory", "greedy/internal/outofcore", "greedy/internal/refine", "greedy/internal/sketching", "greedy/internal/target", "internal/kernel", "internal/linalg", "internal/spectral"},

	// Explaining a choice and judging a selection reconstruct the data, as greedy does.
	"internal/judge":  {"stream", "gram", "greedy", "cluster", "internal/kernel", "internal/linalg", "internal/splitmix"},
	"internal/subset": {"stream", "gram", "greedy", "internal/elbow", "internal/kernel", "internal/linalg", "internal/splitmix"},
	"internal/alike":  {"internal/kernel", "internal/linalg", "internal/room", "internal/splitmix"}, // of correlations alone

	// The rooms of ufs: arrows go one way.
	"ufs/request":              {"chunkio", "chunkio/scratch", "gram", "method", "stream", "internal/atomicfile", "internal/judge", "internal/suggest"},
	"ufs/result":               {"stream"},
	"ufs/internal/wording":     {"stream"},
	"ufs/internal/budget":      {"anchor", "chunkio", "method", "stream", "internal/linalg", "internal/room", "ufs/request"},
	"ufs/internal/statistics":  {"anchor", "chunkio", "gram", "method", "stream", "internal/halves", "internal/hygiene", "internal/positions", "internal/rowsample", "internal/survey", "internal/words", "ufs/internal/budget", "ufs/internal/wording", "ufs/request", "ufs/result"},
	"ufs/internal/groups":      {"chunkio", "method", "stream", "internal/jsonsize", "internal/place", "internal/suggest", "ufs/internal/budget", "ufs/request"},
	"ufs/internal/settled":     {"anchor", "chunkio", "gram", "method", "methods", "stream", "internal/atomicfile", "internal/halves", "internal/hygiene", "internal/jsonsize", "internal/place", "internal/resume", "internal/subset", "internal/suggest", "ufs/internal/budget", "ufs/internal/groups", "ufs/internal/statistics", "ufs/internal/wording", "ufs/request"},
	"ufs/internal/choice":      {"chunkio", "method", "stream", "internal/suggest", "ufs/internal/settled", "ufs/internal/wording", "ufs/request"},
	"ufs/internal/planning":    {"anchor", "chunkio", "chunkio/scratch", "cluster", "gram", "method", "methods", "stream", "internal/halves", "internal/judge", "internal/linalg", "internal/resume", "internal/rowsample", "internal/scalemodel", "internal/subset", "internal/trust", "ufs/internal/budget", "ufs/internal/choice", "ufs/internal/settled", "ufs/internal/statistics", "ufs/request"},
	"ufs/internal/gathering":   {"anchor", "chunkio", "gram", "method", "methods", "stream", "internal/hygiene", "internal/place", "internal/resume", "internal/room", "internal/rowsample", "internal/suggest", "internal/trust", "ufs/internal/budget", "ufs/internal/choice", "ufs/internal/planning", "ufs/internal/settled", "ufs/internal/statistics", "ufs/internal/wording", "ufs/request"},
	"ufs/internal/forecasting": {"stream", "internal/place", "internal/scalemodel", "ufs/internal/budget", "ufs/internal/choice", "ufs/internal/gathering", "ufs/internal/planning", "ufs/internal/settled", "ufs/internal/wording", "ufs/request", "ufs/result"},
	"ufs/internal/selecting":   {"anchor", "chunkio/scratch", "gram", "method", "methods", "stream", "internal/agree", "internal/halves", "internal/hygiene", "internal/judge", "internal/kernel", "internal/linalg", "internal/resume", "internal/room", "internal/splitmix", "internal/subset", "internal/survey", "ufs/internal/budget", "ufs/internal/choice", "ufs/internal/gathering", "ufs/internal/planning", "ufs/internal/settled", "ufs/internal/statistics", "ufs/internal/wording", "ufs/request", "ufs/result"},
	"ufs/internal/scanning":    {"anchor", "chunkio", "gram", "method", "stream", "internal/atomicfile", "internal/place", "internal/rowsample", "ufs/internal/budget", "ufs/internal/gathering", "ufs/internal/planning", "ufs/internal/settled", "ufs/internal/statistics", "ufs/internal/wording", "ufs/request", "ufs/result"},
	"ufs/internal/merging":     {"anchor", "chunkio", "chunkio/scratch", "gram", "method", "methods", "stream", "internal/atomicfile", "internal/hygiene", "internal/place", "internal/rowsample", "internal/shell", "ufs/internal/budget", "ufs/internal/statistics", "ufs/internal/wording", "ufs/request", "ufs/result"},
	"ufs/internal/relating":    {"chunkio", "gram", "method", "methods", "stream", "internal/alike", "internal/atomicfile", "internal/kernel", "internal/linalg", "internal/place", "internal/suggest", "ufs/internal/budget", "ufs/internal/gathering", "ufs/internal/planning", "ufs/internal/selecting", "ufs/internal/settled", "ufs/internal/statistics", "ufs/internal/wording", "ufs/request", "ufs/result"},
	"ufs/internal/comparing":   {"gram", "method", "methods", "stream", "internal/atomicfile", "internal/judge", "internal/kernel", "internal/place", "ufs/internal/budget", "ufs/internal/choice", "ufs/internal/gathering", "ufs/internal/planning", "ufs/internal/relating", "ufs/internal/selecting", "ufs/internal/settled", "ufs/internal/statistics", "ufs/internal/wording", "ufs/request", "ufs/result"},
	"ufs/internal/evaluating":  {"chunkio", "cluster", "gram", "method", "methods", "stream", "internal/atomicfile", "internal/halves", "internal/judge", "internal/kernel", "internal/place", "internal/resume", "internal/suggest", "ufs/internal/budget", "ufs/internal/choice", "ufs/internal/gathering", "ufs/internal/planning", "ufs/internal/selecting", "ufs/internal/settled", "ufs/internal/statistics", "ufs/internal/wording", "ufs/request"},
	"ufs/internal/applying":    {"chunkio", "gram", "method", "stream", "internal/place", "ufs/internal/budget", "ufs/internal/planning", "ufs/internal/selecting", "ufs/internal/settled", "ufs/internal/statistics", "ufs/internal/wording", "ufs/request", "ufs/result"},
	"ufs":                      {"chunkio", "method", "stream", "ufs/internal/applying", "ufs/internal/budget", "ufs/internal/comparing", "ufs/internal/evaluating", "ufs/internal/forecasting", "ufs/internal/merging", "ufs/internal/relating", "ufs/internal/scanning", "ufs/internal/selecting", "ufs/internal/settled", "ufs/request", "ufs/result"},

	"internal/elbow":   {},
	"internal/recipe":  {"stream", "chunkio", "internal/place", "internal/suggest"}, // a selection for other tools
	"report":           {"stream", "internal/elbow", "internal/jsonsize"},
	"internal/exit":    {"stream"},
	"internal/program": {"stream", "internal/exit", "internal/screen", "internal/suggest"},
	// The command: flags, checks and what it prints, no mathematics and no orchestration.
	"cmd/ufs-stream":                   {"stream", "method", "methods", "ufs", "report", "chunkio", "cmd/ufs-stream/internal/print", "cmd/ufs-stream/internal/progress", "internal/atomicfile", "internal/localfile", "internal/place", "internal/planted", "internal/program", "internal/recipe", "internal/screen", "internal/shell"},
	"cmd/ufs-stream/internal/print":    {"stream", "ufs", "chunkio", "internal/screen"},
	"cmd/ufs-stream/internal/progress": {"stream", "ufs", "cmd/ufs-stream/internal/print", "internal/screen"},

	// The bench: a package for each verb, and what they build on.
	"bench":                    {"bench/internal/*", "internal/program"},
	"bench/internal/benchtest": {"stream", "chunkio", "bench/internal/cli", "bench/internal/workshop", "internal/exit"},
	"bench/internal/cli":       {"stream", "internal/program", "internal/shell"},
	"bench/internal/workshop":  {"stream", "internal/exit", "internal/kernel", "internal/shell"},
	"bench/internal/results":   {"stream", "internal/atomicfile"},
	"bench/internal/corpora":   {"stream", "chunkio", "bench/internal/cli", "bench/internal/results", "bench/internal/workshop", "internal/duckdb", "internal/exit", "internal/program", "internal/recipe"},
	"bench/internal/gen":       {"stream", "chunkio", "bench/internal/cli", "internal/atomicfile", "internal/kernel", "internal/place", "internal/planted", "internal/program"},
	"bench/internal/kill":      {"stream", "bench/internal/cli", "bench/internal/results", "bench/internal/workshop"},
	"bench/internal/memory":    {"stream", "methods", "bench/internal/cli", "bench/internal/gen", "bench/internal/results", "bench/internal/workshop", "internal/exit"},
	"bench/internal/paper":     {"stream", "bench/internal/cli", "bench/internal/results", "bench/internal/workshop", "internal/program"},
	"bench/internal/peers":     {"stream", "chunkio", "bench/internal/cli", "bench/internal/gen", "bench/internal/results", "bench/internal/workshop", "internal/exit", "internal/judge", "internal/program"},
	"bench/internal/quality":   {"stream", "chunkio", "gram", "method", "methods", "report", "ufs", "bench/internal/cli", "bench/internal/gen", "bench/internal/results", "bench/internal/workshop", "internal/judge", "internal/kernel", "internal/planted", "internal/program"},
	"bench/internal/scale":     {"stream", "report", "bench/internal/cli", "bench/internal/gen", "bench/internal/paper", "bench/internal/results", "bench/internal/workshop", "internal/exit", "internal/kernel", "internal/program"},
}

// importers names the packages that alone may import a module (by prefix). Beyond
// the design, which gives gonum to internal/linalg, greedy takes gonum's loops over
// single rows (floats.Scale and the like), which are no products.
var importers = map[string][]string{
	"github.com/apache/arrow/":                       {"chunkio/internal/chunkiotest", "chunkio/internal/copier", "chunkio/internal/copying", "chunkio/internal/delta", "chunkio/internal/export", "chunkio/internal/formattest", "chunkio/internal/intake", "chunkio/internal/parquet", "chunkio/internal/writer", "chunkio/internal/writing"},
	"github.com/klauspost/":                          {"internal/forged", "chunkio/internal/chunkiotest", "chunkio/internal/copying", "chunkio/internal/statsfile", "chunkio/internal/intake", "chunkio/internal/ipc", "chunkio/internal/parquet", "chunkio/internal/writer"},
	"github.com/go-json-experiment/":                 {"chunkio/internal/intake", "internal/jsonsize"},
	"github.com/expr-lang/expr/":                     {"internal/condition"},
	"github.com/spf13/":                              {"cmd/ufs-stream", "bench/internal/cli", "bench/internal/corpora", "bench/internal/gen", "bench/internal/kill", "bench/internal/memory", "bench/internal/paper", "bench/internal/peers", "bench/internal/quality", "bench/internal/scale", "internal/program"},
	"github.com/vbauerster/":                         {"cmd/ufs-stream/internal/progress"},
	"gonum.org/v1/gonum/":                            {"internal/linalg", "internal/judge", "internal/subset", "greedy/internal/blocks", "greedy/internal/engine", "greedy/internal/greedytest", "greedy/internal/inmemory", "greedy/internal/outofcore", "greedy/internal/refine", "greedy/internal/sketching", "greedy/internal/target"},
	"golang.org/x/image/":                            {"report"},
	"github.com/chromedp/":                           {"internal/browsertest"},
	"golang.org/x/sys/cpu":                           {"internal/kernel"},
	"github.com/aws/":                                {"internal/store"},
	"github.com/Azure/":                              {"internal/store"},
	"cloud.google.com/":                              {"internal/store"},
	"golang.org/x/oauth2":                            {"internal/store"},
	"github.com/apache/thrift/":                      nil, // arrow's own
	"google.golang.org/":                             nil, // what only pqarrow needs
	"github.com/apache/arrow/go/v15/parquet/pqarrow": nil, // panics where nobody can recover
}

// TestLayering keeps the arrows of the design: it reads every package's imports
// from the go tool, tests left out (they may build on whatever they check).
func TestLayering(t *testing.T) {
	for _, p := range list(t, "-json=ImportPath,Imports", module+"...") {
		name := strings.TrimPrefix(p.ImportPath, module)
		allowed, known := mayImport[name]
		if !known {
			t.Errorf("package %s is not in the design's table", name)
		}
		for _, imp := range p.Imports {
			if own, ok := strings.CutPrefix(imp, module); ok {
				if !slices.ContainsFunc(allowed, func(may string) bool { ok, _ := path.Match(may, own); return ok }) {
					t.Errorf("%s imports %s, which the design does not allow", name, own)
				}
				continue
			}
			for prefix, may := range importers {
				if strings.HasPrefix(imp, prefix) && !slices.Contains(may, name) {
					t.Errorf("%s imports %s; of this module only %q may", name, imp, may)
				}
			}
		}
	}
}

// listed is a package in the output of the go tool.
type listed struct {
	ImportPath, Export string
	Imports            []string
}

func list(t *testing.T, args ...string) (packages []listed) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Stderr = os.Stderr
	for d := json.NewDecoder(bytes.NewReader(must.Get(cmd.Output())(t))); d.More(); {
		var p listed
		must.Do(t, d.Decode(&p))
		packages = append(packages, p)
	}
	return packages
}
