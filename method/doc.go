// Package method is what a method of selection declares about itself, what it receives,
// and the ranking it returns.
//
//  1. A package of a method lists its [Spec]s: name, what the method works from (a profile
//     of the columns, their Gram matrix, the anchor graph, the rows), what it takes, its
//     default scale.
//  2. Spec.New makes a [Method] with its own settings, which Options declares once: flags,
//     help, defaults, refusals and the record of a run all come from there ([Spec.Bind]).
//  3. Cost says what a run takes in memory, scratch and passes, so that a plan can be made.
//  4. Select ranks from the [Evidence] that the passes over the input have left; Path, where
//     the method is [Varied], does so for every setting of a grid.
//
// Package ufs makes the runs, package methods lists all methods. A new method is a package
// with a Spec and a line in that list:
//
//	func Specs() []method.Spec {
//		return []method.Spec{{
//			Name: "range", About: "features of the widest range first",
//			From: method.FromProfile, New: func() method.Method { return new(widest) },
//		}}
//	}
package method
