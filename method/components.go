package method

import (
	"errors"
	"strconv"
	"strings"
)

// ComponentCount is a number of leading principal components: Count, or if that is 0, the fewest that have the given
// share of the variance.
type ComponentCount struct {
	Count int
	Share float64
}

// ToText returns the text that the option {components} accepts.
func (c ComponentCount) ToText() string {
	if c.Count > 0 {
		return strconv.Itoa(c.Count)
	}
	return strconv.FormatFloat(100*c.Share, 'g', -1, 64) + "%"
}

// DeclareComponents declares the option {components} for methods on the leading principal components, with a default value.
func (o *Options) DeclareComponents(target *ComponentCount, value ComponentCount) {
	declareOption(o, target, value, Option{
		Name: "components", Usage: "`Q` leading principal components to use (default: 50% of the variance for fastcan, 90% for pfa)", Type: "string",
		Syntax: "a number, or a share of the variance that they must have (90%)",
	}, parseComponentCount, "want a number of 1 or more, or a share of the variance above 0% and up to 100%").Default = "" // it depends on the method
}

func parseComponentCount(text string) (c ComponentCount, err error) {
	if percent, isShare := strings.CutSuffix(text, "%"); isShare {
		c.Share, err = strconv.ParseFloat(percent, 64)
		if c.Share /= 100; err == nil && !(c.Share > 0 && c.Share <= 1) {
			err = errors.New("not a share")
		}
		return c, err
	}
	if c.Count, err = strconv.Atoi(text); err == nil && c.Count < 1 {
		err = errors.New("not a number of components")
	}
	return c, err
}
