// Package halves makes half-samples of the rows without reading them again.
//
//  1. A hash of a row's global position assigns the row to one of H shards: [ShardOf]. The shards are disjoint random
//     samples of about equal size. They do not depend on the number of threads, the order of the files, or which part
//     of the input is read.
//  2. A [Splitter] collects the rows of each shard, and passes them to the shard's additive statistics, 256 rows at
//     a time.
//  3. The statistics of a half-sample are the sum of the statistics of half of the shards. [ChooseHalves] draws
//     halves in complementary pairs, as in Shah and Samworth, Variable selection with error control: another look at
//     stability selection, JRSS B 2013.
package halves
