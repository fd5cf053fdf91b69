// Package halves makes half-samples of the rows without reading them again.
//
//  1. A hash of a row's global position determines which of H shards it belongs to: [ShardOf]. The shards are random,
//     disjoint samples of about equal size, the same for any threads, order of the files and part of the input.
//  2. A [Splitter] passes the rows of every chunk to the additive statistics of their shards, in strips of full height.
//  3. The statistics of a half-sample are the sum of the statistics of half of the shards:
//     [ChooseHalves] draws halves in complementary pairs, as Shah and Samworth do (Variable
//     selection with error control: another look at stability selection, JRSS B 2013).
package halves
