package manifests

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/jsonpath"
)

// kubectl serves the command lines that run.sh has, and no others.
func (c *cluster) kubectl(o order) outcome {
	out, err := c.command(context.Background(), o)
	if err != nil {
		return outcome{Out: out, Err: "kubectl: " + err.Error() + "\n", Code: 1}
	}
	return outcome{Out: out}
}

func (c *cluster) command(ctx context.Context, o order) (string, error) {
	if len(o.Args) > 1 && o.Args[1] == "logs" {
		return c.logs(o.Args[2:])
	}
	if len(o.Args) < 4 || o.Args[2] != "-f" {
		return "", fmt.Errorf("%q is not known here", o.Args)
	}
	object, err := decode(filepath.Join(o.Dir, o.Args[3]))
	if err != nil {
		return "", err
	}
	rest := o.Args[4:]
	switch verb := o.Args[1]; {
	case verb == "apply" && len(rest) == 0:
		return "", c.apply(ctx, object)
	case verb == "delete" && slices.Equal(rest, []string{"--ignore-not-found", "--wait"}):
		if err := c.remove(ctx, object.(*batchv1.Job).Name); err != nil && !errors.IsNotFound(err) {
			return "", err
		}
		return "", nil
	case verb == "get" && len(rest) == 2 && rest[0] == "-o" && strings.HasPrefix(rest[1], "jsonpath="):
		return c.get(ctx, object.(*batchv1.Job).Name, strings.TrimPrefix(rest[1], "jsonpath="))
	}
	return "", fmt.Errorf("%q is not known here", o.Args)
}

// apply creates an object, or replaces a map. A Job that is there cannot be changed.
func (c *cluster) apply(ctx context.Context, object runtime.Object) error {
	settings, ok := object.(*corev1.ConfigMap)
	if !ok {
		return c.create(ctx, object)
	}
	if err := c.client.CoreV1().ConfigMaps(namespace).Delete(ctx, settings.Name, metav1.DeleteOptions{}); err != nil && !errors.IsNotFound(err) {
		return err
	}
	return c.create(ctx, object)
}

// get evaluates a path as kubectl does.
func (c *cluster) get(ctx context.Context, name, path string) (string, error) {
	object, err := c.client.BatchV1().Jobs(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return "", err
	}
	expression := jsonpath.New("get").AllowMissingKeys(true)
	if err := expression.Parse(path); err != nil {
		return "", err
	}
	var out strings.Builder
	err = expression.Execute(&out, content)
	return out.String(), err
}

// logs prints what the pods of a Job have said.
func (c *cluster) logs(args []string) (string, error) {
	name, ok := "", false
	if len(args) == 5 && args[0] == "-l" && slices.Equal(args[2:], []string{"--all-containers", "--prefix", "--tail=5"}) {
		name, ok = strings.CutPrefix(args[1], "job-name=")
	}
	if !ok {
		return "", fmt.Errorf("logs %q is not known here", args)
	}
	c.tries.mu.Lock()
	defer c.tries.mu.Unlock()
	var out strings.Builder
	for _, one := range c.tries.all {
		if one.job != name {
			continue
		}
		lines := strings.Split(strings.TrimSuffix(one.said, "\n"), "\n")
		for _, line := range lines[max(0, len(lines)-5):] {
			fmt.Fprintf(&out, "[pod/%s-%s/%s] %s\n", name, one.index, one.container, line)
		}
	}
	return out.String(), nil
}
