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

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// vocabulary is the package that every other may import: what package slices lacks.
const vocabulary = "internal/convert"

// mayImport is the package table of the design: which packages of this module
// each one may import. A package that is not listed here does not belong.
var mayImport = map[string][]string{
	"stream":                    {},
	"internal/numeric/splitmix": {},
	"internal/disk/words":       {},
	"internal/judging/agree":    {},
	"internal/app/startup":      {},
	"internal/app/suggest":      {"stream"},
	"internal/app/shell":        {},
	"internal/testing/faults":   {}, // of tests, in the packages that touch files
	"internal/disk/journal":     {}, // logs of finished work
	"internal/disk/ownfile":     {}, // names in folders that others may write
	"internal/disk/localfile":   {"internal/testing/faults"},
	"internal/app/screen":       {}, // what terminals show
	"internal/gates":            {},
	"internal/numeric/kernel":   {"internal/memory/room"},
	"internal/memory/room":      {},
	"internal/memory/jsonsize":  {},
	"internal/disk/columns":     {}, // the columns of a table, and of its files
	vocabulary:                  {},

	// Of tests.
	"internal/testing/must":         {},
	"internal/testing/leaktest":     {},
	"internal/testing/long":         {},
	"internal/testing/browsertest":  {},
	"internal/testing/deltatwin":    {},
	"internal/testing/fixtures":     {},
	"internal/testing/forged":       {},
	"internal/testing/freeport":     {"internal/testing/must"},
	"internal/testing/testtool":     {"internal/testing/must"},
	"internal/testing/duckdb":       {},
	"internal/testing/duckdbtest":   {"internal/testing/duckdb", "internal/testing/testtool"},
	"internal/testing/slurmtest":    {"internal/testing/freeport", "internal/testing/must"},
	"internal/testing/realtest":     {"stream", "chunkio", "internal/testing/fixtures", "internal/testing/must"},
	"internal/testing/tabletest":    {"stream", "internal/testing/must"},
	"internal/disk/words/wordstest": {"internal/disk/words"},
	"internal/resume/resumetest":    {"stream", "chunkio/scratch", "internal/resume", "internal/testing/must"},
	"internal/memory/room/roomtest": {},
	"internal/rows/rowstest":        {"stream", "gram", "anchor", "internal/rows"},

	"internal/numeric/linalg":        {"internal/numeric/kernel", "internal/memory/room", "internal/numeric/splitmix"},
	"internal/judging/halves":        {"stream", "internal/numeric/kernel", "internal/numeric/splitmix", "internal/disk/words", "internal/memory/room"},
	"internal/disk/positions":        {"stream", "internal/disk/words"},
	"internal/app/condition":         {"stream"}, // the language of conditions on rows
	"internal/cloud/store":           {"stream", "internal/app/suggest"},
	"internal/cloud/store/storetest": {"internal/testing/freeport", "internal/testing/must", "internal/testing/testtool"},
	"internal/cloud/store/claim":     {"stream", "internal/cloud/store"},                                              // who writes an object last
	"internal/cloud/place":           {"stream", "internal/app/screen", "internal/cloud/store", "internal/app/shell"}, // what an argument names
	"internal/disk/atomicfile":       {"stream", "internal/disk/journal", "internal/testing/faults", "internal/disk/ownfile", "internal/cloud/store", "internal/cloud/store/claim", "internal/cloud/place"},
	"internal/disk/planfile":         {"stream", "internal/disk/columns", "internal/memory/jsonsize"},
	"internal/resume":                {"stream", "chunkio", "chunkio/scratch", "internal/disk/atomicfile", "internal/disk/journal", "internal/disk/ownfile"}, // what a run goes on from
	"internal/testing/planted":       {"stream", "internal/numeric/splitmix"},
	"internal/scalemodel":            {},

	// The rooms of chunkio: arrows go one way.
	"chunkio/internal/naming":      {"stream", "chunkio/internal/format", "chunkio/internal/glob", "internal/app/suggest"},
	"chunkio/internal/storage":     {"stream", "chunkio/internal/format", "chunkio/internal/formats", "chunkio/internal/ipc", "chunkio/scratch", "internal/cloud/place", "internal/cloud/store", "internal/disk/atomicfile", "internal/disk/localfile", "internal/disk/columns"},
	"chunkio/internal/cache":       {"chunkio/internal/format", "internal/numeric/kernel"},
	"chunkio/internal/settings":    {"stream", "chunkio/internal/cache", "chunkio/internal/intake", "chunkio/scratch", "internal/cloud/place"},
	"chunkio/internal/opening":     {"stream", "chunkio/internal/format", "chunkio/internal/formats", "chunkio/internal/glob", "chunkio/internal/intake", "chunkio/internal/mtx", "chunkio/internal/ipc", "chunkio/internal/mtx", "chunkio/internal/naming", "chunkio/internal/parquet", "chunkio/internal/remaining", "chunkio/internal/settings", "chunkio/internal/storage", "chunkio/internal/svm", "chunkio/scratch", "internal/app/suggest", "internal/cloud/place", "internal/cloud/store", "internal/disk/atomicfile", "internal/disk/planfile"},
	"chunkio/internal/listing":     {"stream", "chunkio/internal/delta", "chunkio/internal/format", "chunkio/internal/formats", "chunkio/internal/glob", "chunkio/internal/intake", "chunkio/internal/opening", "chunkio/internal/settings", "chunkio/internal/storage", "chunkio/internal/svm", "internal/app/suggest", "internal/cloud/place", "internal/cloud/store", "internal/disk/atomicfile", "internal/disk/localfile", "internal/disk/planfile", "internal/disk/columns"},
	"chunkio/internal/catalog":     {"stream", "chunkio/internal/delta", "chunkio/internal/format", "chunkio/internal/ipc", "chunkio/internal/listing", "chunkio/internal/naming", "chunkio/internal/opening", "chunkio/internal/parquet", "chunkio/internal/settings", "chunkio/internal/storage", "chunkio/internal/text", "chunkio/internal/where", "chunkio/scratch", "internal/app/condition", "internal/app/suggest", "internal/cloud/place", "internal/cloud/store", "internal/disk/columns", "internal/numeric/splitmix"},
	"chunkio/internal/schema":      {"stream", "chunkio/internal/catalog", "chunkio/internal/format", "chunkio/internal/intake", "chunkio/internal/naming", "chunkio/internal/settings", "internal/app/suggest"},
	"chunkio/internal/plans":       {"stream", "chunkio/internal/catalog", "chunkio/internal/format", "chunkio/internal/listing", "chunkio/internal/opening", "chunkio/internal/settings", "chunkio/internal/storage", "chunkio/internal/where", "internal/disk/atomicfile", "internal/cloud/place", "internal/disk/planfile", "internal/cloud/store", "internal/disk/columns"},
	"chunkio/internal/pipeline":    {"stream", "chunkio/internal/cache", "chunkio/internal/catalog", "chunkio/internal/format", "chunkio/internal/intake", "chunkio/internal/ipc", "chunkio/internal/listing", "chunkio/internal/naming", "chunkio/internal/opening", "chunkio/internal/schema", "chunkio/internal/settings", "chunkio/internal/storage", "chunkio/internal/text", "chunkio/internal/where", "chunkio/scratch", "internal/numeric/kernel", "internal/app/suggest"},
	"chunkio/internal/writing":     {"stream", "chunkio/internal/format", "chunkio/internal/parquet", "chunkio/internal/writer", "internal/disk/atomicfile"},
	"chunkio/internal/dataset":     {"stream", "chunkio/internal/catalog", "chunkio/internal/listing", "chunkio/internal/naming", "chunkio/internal/opening", "chunkio/internal/pipeline", "chunkio/internal/plans", "chunkio/internal/schema", "chunkio/internal/settings", "chunkio/internal/storage"},
	"chunkio/internal/statsfile":   {"stream", "chunkio/internal/glob", "chunkio/internal/listing", "chunkio/internal/storage", "internal/disk/atomicfile", "internal/memory/jsonsize", "internal/cloud/place", "internal/cloud/store"},
	"chunkio/internal/copying":     {"stream", "chunkio/internal/catalog", "chunkio/internal/copier", "chunkio/internal/dataset", "chunkio/internal/export", "chunkio/internal/format", "chunkio/internal/intake", "chunkio/internal/ipc", "chunkio/internal/listing", "chunkio/internal/naming", "chunkio/internal/opening", "chunkio/internal/parquet", "chunkio/internal/parquet/footer", "chunkio/internal/pipeline", "chunkio/internal/plans", "chunkio/internal/schema", "chunkio/internal/settings", "chunkio/internal/storage", "chunkio/internal/svm", "chunkio/internal/text", "chunkio/internal/writer", "chunkio/internal/writing", "chunkio/scratch", "internal/app/suggest", "internal/cloud/place", "internal/cloud/store", "internal/disk/atomicfile"},
	"chunkio":                      {"stream", "chunkio/internal/cache", "chunkio/internal/catalog", "chunkio/internal/copying", "chunkio/internal/dataset", "chunkio/internal/formats", "chunkio/internal/listing", "chunkio/internal/naming", "chunkio/internal/opening", "chunkio/internal/plans", "chunkio/internal/schema", "chunkio/internal/settings", "chunkio/internal/statsfile", "chunkio/internal/storage", "chunkio/internal/writing"},
	"chunkio/internal/chunkiotest": {"stream", "chunkio/internal/*", "chunkio/internal/parquet/footer", "internal/testing/fixtures", "internal/testing/must"}, // of tests

	// The formats of chunkio.
	"chunkio/scratch":                 {"stream", "internal/disk/atomicfile", "internal/testing/faults", "internal/disk/ownfile"},
	"chunkio/internal/copier":         {"stream", "chunkio/internal/*", "chunkio/internal/parquet/footer"},
	"chunkio/internal/delta":          {"stream", "chunkio/internal/format", "chunkio/internal/parquet", "chunkio/internal/remaining", "internal/disk/columns"},
	"chunkio/internal/export":         {"stream", "chunkio/internal/format", "chunkio/internal/parquet", "chunkio/internal/text"},
	"chunkio/internal/glob":           {},
	"chunkio/internal/format":         {"stream", "chunkio/internal/text"},
	"chunkio/internal/formattest":     {"stream", "chunkio/internal/format", "chunkio/internal/text"},
	"chunkio/internal/intake":         {"stream", "chunkio/internal/*", "internal/memory/room", "internal/app/shell", "internal/app/suggest"},
	"chunkio/internal/ipc":            {"stream", "chunkio/internal/format", "chunkio/internal/text", "internal/memory/room"},
	"chunkio/internal/parquet/thrift": {},
	"chunkio/internal/parquet/footer": {"stream", "chunkio/internal/format", "chunkio/internal/parquet/thrift", "internal/memory/room", "internal/disk/columns"},
	"chunkio/internal/parquet":        {"stream", "chunkio/internal/format", "chunkio/internal/parquet/footer", "chunkio/internal/parquet/thrift", "chunkio/internal/text", "internal/numeric/kernel", "internal/disk/columns"},
	"chunkio/internal/remaining":      {"stream", "chunkio/internal/format", "chunkio/internal/parquet", "chunkio/internal/text"},
	"chunkio/internal/svm":            {"stream", "chunkio/internal/format", "chunkio/internal/text"},
	"chunkio/internal/mtx":            {"stream", "chunkio/internal/format", "chunkio/internal/svm"},
	"chunkio/internal/formats":        {"stream", "chunkio/internal/format", "chunkio/internal/intake", "chunkio/internal/ipc", "chunkio/internal/mtx", "chunkio/internal/parquet", "chunkio/internal/svm"}, // the list
	"chunkio/internal/text":           {},
	"chunkio/internal/where":          {"stream", "internal/app/condition", "chunkio/internal/format", "chunkio/internal/text"},
	"chunkio/internal/writer":         {"stream", "chunkio/internal/format", "chunkio/internal/parquet", "chunkio/internal/parquet/footer"},

	"gram":                       {"stream", "internal/numeric/kernel", "internal/memory/room", "internal/numeric/splitmix", "internal/disk/words"},
	"cluster":                    {"stream", "internal/numeric/kernel", "internal/memory/room"},
	"anchor":                     {"stream", "gram", "cluster", "internal/numeric/kernel", "internal/numeric/linalg", "internal/memory/room", "internal/disk/words", "internal/numeric/splitmix"},
	"internal/judging/hygiene":   {"stream", "gram", "internal/numeric/kernel", "internal/numeric/splitmix", "internal/disk/words", "internal/memory/room"},
	"internal/rows":              {"stream", "internal/numeric/kernel", "internal/numeric/linalg", "internal/memory/room"},
	"internal/numeric/spectral":  {"stream", "gram", "anchor", "internal/numeric/kernel", "internal/numeric/linalg", "internal/memory/room", "internal/rows"},
	"internal/numeric/rowsparse": {"stream", "gram", "method", "internal/numeric/kernel", "internal/numeric/linalg", "internal/numeric/spectral", "internal/memory/room"},
	"internal/rows/inmemory":     {"stream", "method", "internal/numeric/kernel", "internal/rows"},
	"internal/rows/rowsample":    {"stream", "anchor", "internal/disk/words", "internal/numeric/splitmix"},
	"internal/numeric/ridge":     {"gram", "internal/numeric/kernel", "internal/numeric/linalg", "internal/memory/room"},
	"internal/judging/survey":    {"stream", "gram", "anchor", "internal/numeric/kernel", "internal/memory/room", "internal/numeric/spectral", "internal/numeric/splitmix"}, // what a sample of rows says of a table
	"method":                     {"stream", "gram", "anchor", "internal/app/suggest"},
	"methods/align":              {"stream", "gram", "anchor", "method", "internal/numeric/kernel", "internal/numeric/spectral", "internal/numeric/splitmix", "internal/judging/survey", "internal/memory/room"},

	// The methods: the mathematics, and its declaration. None imports another.
	"methods/hvg":            {"stream", "gram", "method", "methods/baseline", "internal/numeric/kernel"},
	"methods/baseline":       {"stream", "gram", "anchor", "cluster", "method", "internal/numeric/kernel", "internal/numeric/spectral", "internal/numeric/splitmix", "internal/memory/room"},
	"sfufs":                  {"stream", "gram", "anchor", "cluster", "method", "internal/numeric/kernel", "internal/numeric/linalg", "internal/numeric/rowsparse", "internal/numeric/spectral", "internal/memory/room"},
	"eufs":                   {"stream", "gram", "anchor", "cluster", "method", "internal/numeric/kernel", "internal/numeric/linalg", "internal/disk/localfile", "internal/memory/room", "internal/rows", "internal/app/suggest"},
	"methods/cpufs":          {"stream", "gram", "anchor", "cluster", "method", "internal/numeric/kernel", "internal/numeric/linalg", "internal/rows", "internal/memory/room"},
	"methods/fsfs":           {"stream", "gram", "method", "internal/numeric/kernel", "internal/memory/room"},
	"methods/cdlfs":          {"stream", "gram", "method", "internal/numeric/kernel", "internal/numeric/linalg", "internal/numeric/ridge", "internal/numeric/spectral", "internal/memory/room"},
	"methods/fspca":          {"stream", "gram", "method", "internal/numeric/rowsparse"},
	"methods/spcafs":         {"stream", "gram", "method", "internal/numeric/kernel", "internal/numeric/linalg", "internal/numeric/rowsparse", "internal/numeric/spectral", "internal/memory/room"},
	"methods/pca":            {"stream", "gram", "cluster", "method", "internal/numeric/kernel", "internal/numeric/spectral", "internal/memory/room"},
	"methods/socfs":          {"stream", "gram", "anchor", "cluster", "method", "internal/numeric/kernel", "internal/numeric/linalg", "internal/numeric/ridge", "internal/numeric/spectral", "internal/memory/room"},
	"methods/u2fs":           {"stream", "gram", "anchor", "method", "internal/numeric/kernel", "internal/numeric/linalg", "internal/numeric/spectral", "internal/memory/room"},
	"methods/udfs":           {"stream", "gram", "method", "internal/numeric/kernel", "internal/numeric/linalg", "internal/numeric/rowsparse", "internal/rows", "internal/rows/inmemory", "internal/memory/room"},
	"methods/rufs":           {"stream", "gram", "cluster", "method", "internal/numeric/kernel", "internal/numeric/linalg", "internal/memory/room", "internal/rows", "internal/rows/inmemory"},
	"methods/rsfs":           {"stream", "gram", "cluster", "method", "internal/numeric/kernel", "internal/numeric/linalg", "internal/numeric/ridge", "internal/numeric/spectral", "internal/memory/room", "internal/rows", "internal/rows/inmemory"},
	"methods/sogfs":          {"stream", "gram", "method", "internal/numeric/kernel", "internal/numeric/linalg", "internal/numeric/rowsparse", "internal/numeric/spectral", "internal/memory/room", "internal/rows", "internal/rows/inmemory"},
	"methods/spec":           {"stream", "gram", "anchor", "method", "internal/numeric/kernel", "internal/numeric/linalg", "internal/numeric/spectral", "internal/memory/room"},
	"methods/jelsr":          {"stream", "gram", "anchor", "cluster", "method", "internal/numeric/kernel", "internal/numeric/linalg", "internal/numeric/ridge", "internal/numeric/spectral", "internal/memory/room"},
	"methods":                {"stream", "method", "methods/align", "greedy", "methods/baseline", "sfufs", "eufs", "methods/cpufs", "methods/fsfs", "methods/fspca", "methods/cdlfs", "methods/socfs", "methods/u2fs", "methods/udfs", "methods/rufs", "methods/rsfs", "methods/sogfs", "methods/spec", "methods/spcafs", "methods/jelsr", "internal/app/suggest", "methods/hvg", "methods/pca"},
	"internal/judging/trust": {"methods/align", "anchor", "internal/numeric/kernel", "internal/memory/room", "internal/numeric/spectral", "internal/numeric/splitmix", "internal/judging/survey", "stream"},

	// The rooms of greedy: arrows go one way.
	"greedy/selection":           {"stream", "gram", "method"},
	"greedy/internal/tasks":      {},
	"greedy/internal/greedytest": {"stream", "gram", "anchor", "method", "greedy/selection", "internal/testing/must", "internal/rows/rowstest"}, // of tests
	"greedy/internal/target":     {"stream", "gram", "anchor", "greedy/selection", "greedy/internal/tasks", "internal/numeric/kernel", "internal/numeric/linalg", "internal/numeric/spectral", "internal/memory/room"},
	"greedy/internal/engine":     {"stream", "gram", "method", "greedy/selection", "greedy/internal/target", "greedy/internal/tasks", "internal/numeric/kernel", "internal/numeric/linalg", "internal/memory/room"},
	"greedy/internal/blocks":     {"stream", "method", "greedy/selection", "greedy/internal/engine", "greedy/internal/target", "greedy/internal/tasks", "internal/numeric/kernel"},
	"greedy/internal/refine":     {"stream", "gram", "greedy/selection", "greedy/internal/engine", "greedy/internal/target", "greedy/internal/tasks", "internal/numeric/kernel", "internal/numeric/linalg", "internal/memory/room"},
	"greedy/internal/inmemory":   {"stream", "gram", "greedy/selection", "greedy/internal/blocks", "greedy/internal/engine", "greedy/internal/refine", "greedy/internal/target", "internal/numeric/kernel", "internal/memory/room"},
	"greedy/internal/scan":       {"stream", "gram", "method", "greedy/selection", "greedy/internal/tasks", "internal/numeric/kernel", "internal/memory/room", "internal/rows", "internal/numeric/splitmix"},
	"greedy/internal/triangle":   {"greedy/internal/scan", "greedy/internal/tasks", "internal/numeric/kernel", "internal/memory/room"},
	"greedy/internal/outofcore":  {"stream", "gram", "method", "greedy/selection", "greedy/internal/blocks", "greedy/internal/engine", "greedy/internal/refine", "greedy/internal/scan", "greedy/internal/target", "greedy/internal/tasks", "greedy/internal/triangle", "internal/numeric/kernel", "internal/memory/room", "internal/rows"},
	"greedy/internal/sketching":  {"stream", "gram", "greedy/selection", "greedy/internal/blocks", "greedy/internal/engine", "greedy/internal/inmemory", "greedy/internal/refine", "greedy/internal/scan", "greedy/internal/target", "internal/numeric/kernel", "internal/memory/room"},
	"greedy":                     {"stream", "gram", "anchor", "method", "greedy/selection", "greedy/internal/blocks", "greedy/internal/engine", "greedy/internal/inmemory", "greedy/internal/outofcore", "greedy/internal/refine", "greedy/internal/sketching", "greedy/internal/target", "internal/numeric/kernel", "internal/numeric/linalg", "internal/numeric/spectral"},

	// Explaining a choice and judging a selection reconstruct the data, as greedy does.
	"internal/judging/judge":  {"stream", "gram", "greedy", "cluster", "internal/numeric/kernel", "internal/numeric/linalg", "internal/numeric/splitmix", "internal/memory/room"},
	"internal/judging/subset": {"stream", "gram", "greedy", "internal/numeric/elbow", "internal/numeric/kernel", "internal/numeric/linalg", "internal/numeric/spectral", "internal/numeric/splitmix", "internal/memory/room"},
	"internal/judging/alike":  {"internal/numeric/kernel", "internal/numeric/linalg", "internal/memory/room", "internal/numeric/splitmix"}, // of correlations alone

	// The rooms of ufs: arrows go one way.
	"ufs/request":              {"chunkio", "chunkio/scratch", "gram", "method", "methods", "stream", "internal/disk/atomicfile", "internal/judging/judge", "internal/app/suggest"},
	"ufs/result":               {"stream"},
	"ufs/internal/wording":     {"stream"},
	"ufs/internal/budget":      {"anchor", "chunkio", "method", "stream", "internal/numeric/linalg", "internal/memory/room", "ufs/request"},
	"ufs/internal/statistics":  {"anchor", "chunkio", "gram", "method", "stream", "internal/judging/halves", "internal/judging/hygiene", "internal/disk/positions", "internal/rows", "internal/rows/rowsample", "internal/judging/survey", "internal/disk/words", "ufs/internal/budget", "ufs/internal/wording", "ufs/request", "ufs/result", "internal/memory/room"},
	"ufs/internal/groups":      {"chunkio", "method", "stream", "internal/memory/jsonsize", "internal/cloud/place", "internal/app/suggest", "ufs/internal/budget", "ufs/request"},
	"ufs/internal/namelist":    {"stream", "internal/cloud/place"},
	"ufs/internal/settled":     {"anchor", "chunkio", "gram", "method", "methods", "stream", "internal/disk/atomicfile", "internal/judging/halves", "internal/judging/hygiene", "internal/memory/jsonsize", "internal/cloud/place", "internal/resume", "internal/judging/subset", "internal/app/suggest", "ufs/internal/budget", "ufs/internal/groups", "ufs/internal/namelist", "ufs/internal/statistics", "ufs/internal/wording", "ufs/request"},
	"ufs/internal/choice":      {"chunkio", "method", "stream", "internal/app/suggest", "ufs/internal/settled", "ufs/internal/wording", "ufs/request"},
	"ufs/internal/planning":    {"anchor", "chunkio", "chunkio/scratch", "cluster", "gram", "method", "methods", "stream", "internal/judging/halves", "internal/judging/judge", "internal/numeric/linalg", "internal/resume", "internal/rows/rowsample", "internal/scalemodel", "internal/judging/subset", "internal/judging/trust", "ufs/internal/budget", "ufs/internal/choice", "ufs/internal/settled", "ufs/internal/statistics", "ufs/request"},
	"ufs/internal/gathering":   {"anchor", "chunkio", "gram", "method", "methods", "stream", "internal/judging/hygiene", "internal/cloud/place", "internal/resume", "internal/memory/room", "internal/rows", "internal/rows/rowsample", "internal/app/suggest", "internal/judging/trust", "ufs/internal/budget", "ufs/internal/choice", "ufs/internal/planning", "ufs/internal/settled", "ufs/internal/statistics", "ufs/internal/wording", "ufs/request"},
	"ufs/internal/forecasting": {"stream", "internal/cloud/place", "internal/scalemodel", "ufs/internal/budget", "ufs/internal/choice", "ufs/internal/gathering", "ufs/internal/planning", "ufs/internal/settled", "ufs/internal/wording", "ufs/request", "ufs/result"},
	"ufs/internal/selecting":   {"anchor", "chunkio/scratch", "gram", "method", "methods", "stream", "internal/judging/agree", "internal/judging/halves", "internal/judging/hygiene", "internal/judging/judge", "internal/numeric/kernel", "internal/numeric/linalg", "internal/resume", "internal/memory/room", "internal/numeric/splitmix", "internal/judging/subset", "internal/judging/survey", "ufs/internal/budget", "ufs/internal/choice", "ufs/internal/gathering", "ufs/internal/planning", "ufs/internal/settled", "ufs/internal/statistics", "ufs/internal/wording", "ufs/request", "ufs/result"},
	"ufs/internal/scanning":    {"anchor", "chunkio", "gram", "method", "stream", "internal/numeric/kernel", "internal/numeric/linalg", "internal/disk/atomicfile", "internal/cloud/place", "internal/rows/rowsample", "ufs/internal/budget", "ufs/internal/gathering", "ufs/internal/planning", "ufs/internal/settled", "ufs/internal/statistics", "ufs/internal/wording", "ufs/request", "ufs/result"},
	"ufs/internal/caching":     {"chunkio", "method", "methods", "stream", "internal/cloud/place", "ufs/internal/budget", "ufs/internal/scanning", "ufs/request"},
	"ufs/internal/merging":     {"anchor", "chunkio", "chunkio/scratch", "gram", "method", "methods", "stream", "internal/disk/atomicfile", "internal/judging/hygiene", "internal/cloud/place", "internal/rows/rowsample", "internal/app/shell", "ufs/internal/budget", "ufs/internal/statistics", "ufs/internal/wording", "ufs/request", "ufs/result"},
	"ufs/internal/relating":    {"chunkio", "gram", "method", "methods", "stream", "internal/judging/alike", "internal/judging/judge", "internal/disk/atomicfile", "internal/numeric/kernel", "internal/numeric/linalg", "internal/cloud/place", "internal/app/suggest", "ufs/internal/budget", "ufs/internal/gathering", "ufs/internal/planning", "ufs/internal/selecting", "ufs/internal/settled", "ufs/internal/statistics", "ufs/internal/wording", "ufs/request", "ufs/result", "ufs/internal/caching"},
	"ufs/internal/comparing":   {"gram", "method", "methods", "stream", "internal/disk/atomicfile", "internal/judging/judge", "internal/numeric/kernel", "internal/cloud/place", "ufs/internal/budget", "ufs/internal/choice", "ufs/internal/gathering", "ufs/internal/planning", "ufs/internal/relating", "ufs/internal/selecting", "ufs/internal/settled", "ufs/internal/statistics", "ufs/internal/wording", "ufs/request", "ufs/result"},
	"ufs/internal/evaluating":  {"chunkio", "cluster", "gram", "method", "methods", "stream", "internal/disk/atomicfile", "internal/judging/halves", "internal/judging/judge", "internal/numeric/kernel", "internal/cloud/place", "internal/resume", "internal/app/suggest", "ufs/internal/budget", "ufs/internal/choice", "ufs/internal/gathering", "ufs/internal/planning", "ufs/internal/selecting", "ufs/internal/settled", "ufs/internal/statistics", "ufs/internal/wording", "ufs/request"},
	"ufs/internal/applying":    {"chunkio", "gram", "method", "stream", "internal/cloud/place", "ufs/internal/budget", "ufs/internal/planning", "ufs/internal/selecting", "ufs/internal/settled", "ufs/internal/statistics", "ufs/internal/wording", "ufs/request", "ufs/result"},
	"ufs":                      {"chunkio", "method", "stream", "ufs/internal/applying", "ufs/internal/budget", "ufs/internal/caching", "ufs/internal/comparing", "ufs/internal/evaluating", "ufs/internal/forecasting", "ufs/internal/merging", "ufs/internal/relating", "ufs/internal/scanning", "ufs/internal/selecting", "ufs/internal/settled", "ufs/request", "ufs/result"},

	"internal/numeric/elbow":  {},
	"internal/app/recipe":     {"stream", "chunkio", "internal/cloud/place", "internal/app/suggest"}, // a selection for other tools
	"report/internal/drawing": {},
	"report/internal/chart":   {"report/internal/drawing"},
	"report":                  {"stream", "internal/numeric/elbow", "internal/memory/jsonsize", "report/internal/chart", "report/internal/drawing"},
	"internal/app/exit":       {"stream"},
	"internal/app/program":    {"internal/app/startup", "stream", "internal/app/exit", "internal/app/screen", "internal/app/suggest"},
	// The command: flags, checks and what it prints, no mathematics and no orchestration.
	"cmd/ufs-stream":                   {"stream", "method", "methods", "ufs", "ufs/request", "report", "chunkio", "cmd/ufs-stream/internal/print", "cmd/ufs-stream/internal/progress", "internal/disk/atomicfile", "internal/disk/localfile", "internal/cloud/place", "internal/testing/planted", "internal/app/program", "internal/app/recipe", "internal/app/screen", "internal/app/shell", "internal/app/suggest"},
	"cmd/ufs-stream/internal/print":    {"stream", "ufs", "chunkio", "internal/app/screen"},
	"cmd/ufs-stream/internal/progress": {"stream", "ufs", "cmd/ufs-stream/internal/print", "internal/app/screen"},

	// The bench: a package for each verb, and what they build on.
	"bench":                    {"bench/internal/verbs", "internal/app/program"},
	"bench/ufs-stream-bench":   {"bench/internal/verbs", "internal/app/program"},
	"bench/internal/verbs":     {"bench/internal/*"},
	"bench/internal/benchtest": {"stream", "chunkio", "bench/internal/cli", "bench/internal/workshop", "internal/app/exit"},
	"bench/internal/cli":       {"stream", "ufs", "internal/app/program", "internal/app/shell"},
	"bench/internal/workshop":  {"stream", "internal/app/exit", "internal/numeric/kernel", "internal/app/shell"},
	"bench/internal/results":   {"stream", "internal/disk/atomicfile"},
	"bench/internal/tuning":    {"stream", "bench/internal/results", "bench/internal/workshop", "internal/judging/judge"},
	"bench/internal/corpora":   {"stream", "bench/internal/cli", "bench/internal/results", "bench/internal/workshop", "chunkio", "internal/testing/duckdb", "internal/app/exit", "internal/app/program", "internal/app/recipe"},
	"bench/internal/gen":       {"stream", "chunkio", "bench/internal/cli", "internal/disk/atomicfile", "internal/numeric/kernel", "internal/cloud/place", "internal/testing/planted", "internal/app/program"},
	"bench/internal/kill":      {"stream", "bench/internal/cli", "bench/internal/results", "bench/internal/workshop"},
	"bench/internal/memory":    {"stream", "methods", "bench/internal/cli", "bench/internal/gen", "bench/internal/results", "bench/internal/workshop", "internal/app/exit"},
	"bench/internal/paper":     {"stream", "chunkio", "bench/internal/cli", "bench/internal/results", "bench/internal/tuning", "bench/internal/workshop", "internal/app/program", "internal/judging/judge"},
	"bench/internal/peers":     {"stream", "chunkio", "bench/internal/cli", "bench/internal/gen", "bench/internal/results", "bench/internal/workshop", "internal/app/exit", "internal/judging/judge", "internal/app/program"},
	"bench/internal/quality":   {"stream", "chunkio", "gram", "method", "methods", "report", "ufs", "bench/internal/cli", "bench/internal/gen", "bench/internal/results", "bench/internal/tuning", "bench/internal/workshop", "internal/judging/judge", "internal/numeric/kernel", "internal/testing/planted", "internal/app/program", "internal/app/suggest"},
	"bench/internal/scale":     {"stream", "report", "bench/internal/cli", "bench/internal/gen", "bench/internal/paper", "bench/internal/results", "bench/internal/workshop", "internal/app/exit", "internal/numeric/kernel", "internal/app/program"},
	"bench/internal/small":     {"stream", "chunkio", "bench/internal/cli", "bench/internal/gen", "bench/internal/results", "bench/internal/workshop", "internal/app/program", "internal/testing/planted"},
}

// importers names the packages that alone may import a module (by prefix). Beyond
// the design, which gives gonum to internal/numeric/linalg, greedy takes gonum's loops over
// single rows (floats.Scale and the like), which are no products.
var importers = map[string][]string{
	"github.com/apache/arrow/":                       {"chunkio/internal/chunkiotest", "chunkio/internal/copier", "chunkio/internal/copying", "chunkio/internal/delta", "chunkio/internal/export", "chunkio/internal/formattest", "chunkio/internal/intake", "chunkio/internal/parquet", "chunkio/internal/parquet/footer", "chunkio/internal/writer", "chunkio/internal/writing", "internal/testing/deltatwin"},
	"github.com/klauspost/":                          {"internal/testing/forged", "chunkio/internal/chunkiotest", "chunkio/internal/copying", "chunkio/internal/statsfile", "chunkio/internal/intake", "chunkio/internal/ipc", "chunkio/internal/parquet", "chunkio/internal/writer"},
	"github.com/go-json-experiment/":                 {"chunkio/internal/intake", "internal/memory/jsonsize", "ufs/internal/namelist"},
	"github.com/spf13/":                              {"cmd/ufs-stream", "bench/internal/cli", "bench/internal/corpora", "bench/internal/gen", "bench/internal/kill", "bench/internal/memory", "bench/internal/paper", "bench/internal/peers", "bench/internal/quality", "bench/internal/scale", "bench/internal/small", "internal/app/program"},
	"github.com/vbauerster/":                         {"cmd/ufs-stream/internal/progress"},
	"gonum.org/v1/gonum/":                            {"internal/numeric/linalg", "internal/judging/judge", "internal/judging/subset", "greedy/internal/blocks", "greedy/internal/engine", "greedy/internal/greedytest", "greedy/internal/inmemory", "greedy/internal/outofcore", "greedy/internal/refine", "greedy/internal/sketching", "greedy/internal/target"},
	"golang.org/x/image/":                            {"report/internal/drawing"},
	"github.com/chromedp/":                           {"internal/testing/browsertest"},
	"golang.org/x/sys/cpu":                           {"internal/numeric/kernel"},
	"github.com/aws/":                                {"internal/cloud/store"},
	"github.com/Azure/":                              {"internal/cloud/store"},
	"cloud.google.com/":                              {"internal/cloud/store"},
	"golang.org/x/oauth2":                            {"internal/cloud/store"},
	"github.com/apache/thrift/":                      nil, // arrow's own
	"google.golang.org/":                             nil, // what only pqarrow needs
	"html/template":                                  nil, // calls methods by name, so the linker keeps all of the program
	"text/template":                                  {"internal/testing/slurmtest"},
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
				if own != vocabulary && !slices.ContainsFunc(allowed, func(may string) bool { ok, _ := path.Match(may, own); return ok }) {
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
