// Package judge measures the quality of selections of features. It reads no files: a [Table] collects the rows, and all
// measures are computed from it.
//
//  1. [RunTrials] clusters the rows on the selected columns, run after run, and scores every clustering against known
//     classes; [SummarizeScores] summarizes the runs by mean and standard deviation, and [MarkBest] finds which of several selections
//     are best, or not significantly worse, by [WelchTest]: Table 2 of Farahat, Ghodsi, Kamel, "Efficient greedy
//     feature selection for unsupervised learning", Knowledge and Information Systems 35 (2013).
//  2. [ReconstructionError] is the share of the data that the selected columns leave
//     unexplained, the same paper's F(S)/F(∅).
//  3. [RedundancyCurve] is the mean absolute correlation among them: Zhao, Wang, Liu,
//     "Efficient spectral feature selection with minimum redundancy", AAAI 2010.
//  4. [MeasureStability] measures how similar the selections of resampled rows are: pairwise Jaccard, and corrected for chance
//     as in Nogueira, Sechidis, Brown, "On the stability of feature selection algorithms", JMLR 18 (2018).
//  5. [NearestAccuracy] is the share of rows whose nearest row has the same class, leave-one-out.
//  6. [ExplainChoice] and [Weights] use a Gram matrix instead of rows: the share that a choice leaves
//     unexplained with the best weights, or with the weights of other data; [ChooseGreedily] returns greedy's choice.
//
// Classes are not needed for 2 and 3. Both are computed for every prefix of a ranking at once.
//
// Results are the same to the last bit for any number of workers.
package judge
