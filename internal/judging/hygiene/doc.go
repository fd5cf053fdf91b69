// Package hygiene finds columns that should not be features: identifiers, times stored as numbers, copies of other
// columns, and columns that nearly determine a label. It uses mergeable statistics of one pass over the rows:
//
//  1. [Facts] add up the statistics of chunks and shards, in any order, in the same pass as a gram.Profile.
//  2. [Facts.FindSuspects] lists the suspicious columns with the reasons, from the Facts and the profile.
//
// After the first rows nearly no column costs any time. An early repeated value shows that a column is not an
// identifier, and a unique hash shows that it is not a copy.
package hygiene
