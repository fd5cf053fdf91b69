// Package method defines the contract of selection methods: their declarations, their evidence, and the ranking they
// return.
//
//  1. A method's package lists its [Spec]s: name, the evidence it works from (a profile of the columns, their Gram
//     matrix, the anchor graph, the rows), the options it takes, its default scale.
//  2. Spec.New makes a [Method] with its own settings, which Options declares once: flags,
//     help, defaults, refusals and the record of a run are all derived from it ([Spec.Bind]).
//  3. Cost returns the memory, scratch space and passes of a run, so that it can be planned.
//  4. Select ranks the features by the [Evidence] that the passes over the input gathered.
//     Path, if the method is [Varied], ranks them for every setting of a grid.
//
// Package ufs makes the runs. Package methods lists all methods. A new method is a package with a Spec and a line in
// that list:
//
//	func Specs() []method.Spec {
//		return []method.Spec{{
//			Name: "range", About: "features of the widest range first",
//			From: method.FromProfile, New: func() method.Method { return new(widest) },
//		}}
//	}
package method
