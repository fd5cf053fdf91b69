package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/cmd/ufs-stream/internal/print"
	"github.com/ufs-stream/ufs-stream/internal/cloud/place"
	"github.com/ufs-stream/ufs-stream/internal/disk/atomicfile"
	"github.com/ufs-stream/ufs-stream/stream"
	"github.com/ufs-stream/ufs-stream/ufs"
	"github.com/ufs-stream/ufs-stream/ufs/request"
)

type evalFlags struct {
	requestFlags
	eval       ufs.EvalRequest
	selections []string
	k          countListFlag
	protocol   choiceFlag
	output     outputFlags
}

func newEval(c *cli) *cobra.Command {
	var o evalFlags
	e := &o.eval
	cmd := &cobra.Command{
		Use:   "eval INPUT… --selection SEL.json --label COL",
		Short: "Judge a selection: cluster the rows on it, compare with the classes",
		Long: `Cluster the rows by k-means on the selected features only, and compare the clusters with
the classes of --label. The scores are accuracy, normalized mutual information, purity and adjusted
Rand index. All features, random features and those of the largest variance are scored for
comparison. Welch's t-test compares several selections. --classify also predicts the classes: for
each of --folds stratified folds from the rows of the others. kNN is a vote of the 5 nearest rows,
as k-means sees them. ridge is linear regression on indicators of the classes, with columns
standardized by the other folds and a penalty of a tenth of their rows. All results have the same
folds. The accuracy is a mean over folds, and for random also over 5 sets of features. Neither
runs by default: both copy the rows, and ridge needs 16 bytes for each pair of columns, or of rows
if these are fewer.
eval also reports the share that the selection leaves unexplained (reconstruction error) and how
alike its features are (redundancy). Without --label it reports only these, and stability: how well
selections from random samples of half the rows agree. For methods on a Gram matrix or a graph
these samples are sums of hash shards of the rows (see select --stability). If memory allows, the
passes of one selection gather them; then all samples share the anchors of a graph. A --checkpoint
keeps these selections as they are finished; the given ones are judged again.
A selection may also come from another program: text with a name on each line, CSV with a column of
names (ordered by a column rank or score, if its first line names one), or a JSON list of names. A file
of path gives a selection for each setting, named as FILE:alpha=0.1,gamma=1. INPUT is as in select.

  ufs-stream eval data --selection sel.json --label class
  ufs-stream eval data --selection sel.json --label class -k 10,20,50 --format csv
  ufs-stream eval data --selection sel.json --label class --classify knn,ridge
  ufs-stream eval data --selection a=greedy.json --selection b=sfufs.json --label class
  ufs-stream eval data --selection names.txt --selection weights.json --label class
  ufs-stream eval data --selection sel.json                     no classes known`,
		Args: o.requireInputs,
		RunE: func(cmd *cobra.Command, args []string) error { return runEval(c, cmd, args, &o) },
	}
	o.protocol = newChoiceFlag(ufs.EvalProtocols()[0], ufs.EvalProtocols()...)
	fs := cmd.Flags()
	fs.StringArrayVar(&o.selections, "selection", nil, "a selection of select, a path of path, or a list of names, `[NAME=]SEL.json`; several are compared")
	fs.VarP(&o.k, "k", "k", "judge the first `N,…` features of the ranking (default: all that are selected)")
	fs.StringVar(&e.Label, "label", "", "the class column `COL`; rows with a null in it are ignored")
	fs.Var(&o.protocol, "protocol", "greedy (20 runs, each the best of 10 restarts of k-means) or sfufs (30 runs of one)")
	fs.IntVar(&e.Runs, "runs", 0, "`N` runs in place of the protocol's")
	fs.IntVar(&e.Restarts, "restarts", 0, "each run the best of `N` restarts, in place of the protocol's")
	fs.Var(&choiceFlag{value: ufs.EvalStarts()[0], allowed: ufs.EvalStarts(), set: func(starts string) { e.Starts = starts }}, "starts", "k-means starts from rows drawn at random, as in most papers, or by k-means++ (plusplus)")
	fs.Var(&choiceFlag{value: ufs.EvalClusterers()[0], allowed: ufs.EvalClusterers(), set: func(clusterer string) { e.Clusterer = clusterer }}, "clusterer", "kmeans, or affinity: affinity propagation, with the preference bisected until there are --clusters exemplars; 5 runs, of which only those of random differ, on 1,000 rows by default, as it holds 24 bytes for each pair of rows")
	fs.Float64Var(&e.Damping, "damping", 0, "affinity propagation: share `X` of old messages in new ones, from 0.5 and below 1 (default 0.9)")
	fs.IntVar(&e.Clusters, "clusters", 0, "`C` clusters (default: as many as there are classes)")
	fs.StringVar(&e.Scale, "scale", "", "none (raw), center, minmax, unit, standard, pareto, by the rows judged (default: none for k-means, for the reconstruction error as the selection records)")
	fs.Var(&choiceFlag{allowed: ufs.RowScales(), set: func(scale string) { e.RowScale = scale }}, "rows-scale", "scale the rows judged, for all figures: none, l2, tfidf, cp10k or cp10k,log1p, as in select; norms and sums are over all features (default: as the selection records)")
	fs.BoolVar(&e.Spherical, "spherical", false, "k-means by the directions of rows: for text")
	fs.Var(&choiceFlag{allowed: ufs.MissingPolicies(), set: func(policy string) { e.Missing = policy }}, "missing", "nulls, NaN and infinities: error, drop-row, mean (of the rows judged; pairwise counts as mean), zero (default: as the selection records)")
	fs.StringVar(&e.Sparse, "sparse", "", "sparse rows, as in select (default: as the selection records)")
	fs.Int64Var(&e.Sample, "sample", 10_000, "judge by a seeded sample of `N` rows (0: all); they are held in memory")
	fs.StringSliceVar(&e.Baselines, "baselines", ufs.EvalBaselines(), "compare with `NAMES` of all, random (other features in every run), variance; or none")
	fs.StringSliceVar(&e.Classify, "classify", nil, "accuracy of `NAMES` of "+strings.Join(ufs.EvalClassifiers(), ", ")+" in cross-validation (default: none)")
	fs.IntVar(&e.Folds, "folds", 5, "cross-validate by `N` folds")
	fs.IntVar(&e.Resamples, "resamples", 0, "stability: select again from `N` random samples of the input, of half as many rows as are judged (default: 5 without --label, else 0)")
	o.addOptions(fs, request.PartRows|request.PartTables|request.PartLimits|request.PartScratch|request.PartCheckpoint)
	o.output.addFlags(fs, "table", "json", "csv")
	return cmd
}

func runEval(c *cli, cmd *cobra.Command, args []string, o *evalFlags) error {
	e, isSet := o.eval, cmd.Flags().Changed
	q, err := o.buildRequest(c, cmd, args, o.output.path)
	if err != nil {
		return err
	}
	err = checkBounds(cmd, boundFlag{"runs", e.Runs, request.OneOrMore}, boundFlag{"restarts", e.Restarts, request.OneOrMore}, boundFlag{"clusters", e.Clusters, request.OneOrMore},
		boundFlag{"sample", e.Sample, request.AtLeast(0, "a number of rows, 0 for all")}, boundFlag{"folds", e.Folds, request.AtLeast(2, "2 or more")},
		boundFlag{"resamples", e.Resamples, request.AtLeast(0, "2 or more to compare, or 0")})
	switch {
	case err != nil:
		return err
	case !isSet("sample"):
		e.Sample = 0
	case e.Sample == 0:
		e.Sample = -1
	}
	if !isSet("folds") {
		e.Folds = 0
	}
	if isSet("resamples") && e.Resamples == 0 {
		e.Resamples = -1
	}
	if len(e.Baselines) == 0 {
		e.Baselines = []string{"none"}
	}
	if isSet("protocol") {
		e.Protocol = o.protocol.value
	}
	e.K = o.k
	e.Input, e.Limits, e.Checkpoint, e.Hooks, e.Seed, e.Output = q.Input, q.Limits, q.Checkpoint, q.Hooks, q.Choice.Seed, q.Output
	if err := o.output.resolveFormat(cmd.Context()); err != nil {
		return err
	}
	if err := e.Check(cmd.Context()); err != nil {
		return err
	}
	if e.Selections, err = readNamedSelections(cmd.Context(), o.selections, o.output.path, q.FetchOptions()); err != nil {
		return err
	}
	r, err := ufs.Eval(cmd.Context(), e)
	if err != nil {
		return err
	}
	c.warn(r.Warnings)
	if err := writeResult(cmd.Context(), c, o.output, print.WriteEvaluation, r); err != nil {
		return err
	}
	c.reportRun(0, r.Timing, r.Memory, nil)
	return e.Forget()
}

// readNamedSelections reads the files of --selection. An argument has the form SEL.json or NAME=SEL.json.
func readNamedSelections(ctx context.Context, args []string, output string, opt chunkio.FetchOptions) ([]ufs.NamedSelection, error) {
	var list []ufs.NamedSelection
	var paths []string
	for _, arg := range args {
		name, path, named := strings.Cut(arg, "=")
		// The character = may also be part of a file name, or of a URL's query.
		if _, err := os.Stat(arg); !named || err == nil || strings.ContainsRune(name, filepath.Separator) || strings.Contains(name, "://") {
			name, path, named = "", arg, false
		}
		switch {
		case named && (name == "" || path == ""):
			return nil, stream.Usagef("--selection %s: want NAME=SEL.json", place.DisplayName(arg))
		case path == "":
			return nil, stream.Usagef("--selection names no file; want SEL.json or NAME=SEL.json")
		case !named && len(args) > 1:
			name = strings.TrimSuffix(place.Base(path), ".json")
		}
		list, paths = append(list, ufs.NamedSelection{Name: name, Path: path}), append(paths, path)
	}
	list, err := ufs.ReadNamedSelections(ctx, list, opt)
	if err != nil {
		return nil, err
	}
	return list, atomicfile.CheckNotInput(ctx, output, paths...)
}
