// Package hygiene finds columns that should not be features, from mergeable statistics of one pass: identifiers, times
// as numbers, copies of other columns, and columns that nearly determine a label.
//
//  1. [Facts] take the rows in the same pass as a gram.Profile, one chunk at a time, and add up over chunks and
//     shards in any order.
//  2. [Facts.FindSuspects] lists the suspicious columns with the reasons, from the facts and the profile.
//
// After the first rows nearly every column costs nothing, because an early repeated value shows that it is not an
// identifier, and a unique hash shows that it is not a copy.
package hygiene
