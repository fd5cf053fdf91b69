// Package hygiene finds columns that had better be no features, from mergeable statistics of one pass:
// identifiers, times as numbers, copies of other columns, and columns that nearly determine a label.
//
//  1. [Facts] take the rows beside a gram.Profile, one chunk at a time, and add up over chunks and
//     shards in any order.
//  2. [Facts.Suspects] says which columns are suspicious and why, with what the profile tells of them.
//
// Nearly every column costs nothing behind its first rows: a repeated value early on shows that it is no
// identifier, and a hash that no other column has shows that it is no copy.
package hygiene
