// Package judge measures the quality of selections of features. It reads no files: a [Table] collects the rows in
// memory, and the other functions compute measures from it.
//
//  1. [RunTrials] clusters the rows on the selected columns several times, and scores every clustering against known
//     classes. [SummarizeScores] gives the mean and standard deviation of the scores. [MarkBest] marks the best of
//     several selections and, by [WelchTest], the selections that are not significantly worse. Table 2 of Farahat,
//     Ghodsi, Kamel, "Efficient greedy feature selection for unsupervised learning", Knowledge and Information Systems
//     35 (2013), is made in this way. [WilcoxonTest] compares two selections in pairs, over runs or data sets, and
//     [AdjustHolm] corrects for several such tests.
//  2. [ReconstructionError] is the share of the data that the selected columns leave unexplained (F(S)/F(∅) in that
//     paper).
//  3. [RedundancyCurve] is the mean absolute correlation between the selected columns: Zhao, Wang, Liu, "Efficient
//     spectral feature selection with minimum redundancy", AAAI 2010.
//  4. [MeasureStability] measures how similar the selections from resampled rows are. One measure is the mean Jaccard
//     index of two selections. The other is corrected for chance as in Nogueira, Sechidis, Brown, "On the stability of
//     feature selection algorithms", JMLR 18 (2018).
//  5. [NearestAccuracy] is the share of rows whose nearest other row has the same class.
//  6. [Folds.CrossValidate] is the accuracy with which classifiers predict the classes of rows from other rows. The same
//     [Folds] serve all selections, so that their accuracies can be compared in pairs.
//  7. [ExplainChoice] and [Weights] use a Gram matrix instead of rows. They give the share that a choice leaves
//     unexplained, with the best weights or with the weights of other data. [ChooseGreedily] returns greedy's choice.
//
// ReconstructionError and RedundancyCurve need no classes, and give a result for every prefix of a ranking at once.
//
// All results are the same to the last bit for any number of workers.
package judge
