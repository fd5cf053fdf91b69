package request

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ufs-stream/ufs-stream/method"
	"github.com/ufs-stream/ufs-stream/methods"
)

// The help of options that names methods.

func methodOptionHelp() string {
	return fmt.Sprintf("selector: %s (default: %s, or %s if a sample of the rows shows no clusters; scan gathers for both)", strings.Join(methods.Names(methods.All()), ", "), methods.Recommended, methods.Fallback)
}

func featureCountOptionHelp() string {
	return fmt.Sprintf("select `N` features, or auto: as many as explain more than noise, for methods on a Gram matrix in memory (default: auto if possible, else %d, or all if there are fewer, and the output gives the reason; path: %[1]d)", DefaultK)
}

func varianceOptionHelp() string {
	return namesOfMethodsTaking(func(t method.Takes) bool { return t.Variance }) + ": stop when this `SHARE` of the total is explained, as 0.95, in place of {k}"
}

func minGainOptionHelp() string {
	return "stop when the next feature adds less than `SHARE` to the explained part, as 0.01; with {k} N at most N (" + namesOfMethodsTaking(func(t method.Takes) bool { return t.MinGain }) +
		"; other graph methods: of their first N, default " + strconv.Itoa(DefaultK) + ", drop the features after the last one that adds as much)"
}

func namesOfMethodsTaking(takes func(method.Takes) bool) string {
	return strings.Join(methods.Names(slices.DeleteFunc(methods.All(), func(s method.Spec) bool { return !takes(s.Takes) })), ", ")
}

// scaleOptionHelp lists the default scale of each method. The scale that most methods have comes first.
func scaleOptionHelp() string {
	var scales []string
	methodsOf := make(map[string][]string)
	for _, s := range methods.All() {
		scale := s.Scale.String()
		if s.Takes.Sample {
			scale = "the one that suits a sample of the rows"
		}
		if methodsOf[scale] == nil {
			scales = append(scales, scale)
		}
		methodsOf[scale] = append(methodsOf[scale], s.Name)
	}
	slices.SortStableFunc(scales, func(a, b string) int { return len(methodsOf[b]) - len(methodsOf[a]) })
	text := scales[0]
	for _, scale := range scales[1:] {
		text += "; " + strings.Join(methodsOf[scale], ", ") + ": " + scale
	}
	return "none (raw), center, minmax, unit, standard, pareto, rank (normal scores of ranks, which no outlier moves; one more pass) (default: " + text + ")"
}
