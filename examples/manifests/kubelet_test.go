package manifests

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/fieldpath"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// resolve makes the arguments and the environment of a container: from maps and secrets, then
// its own, with $(NAME) replaced by Kubernetes' own rules.
func (c *cluster) resolve(ctx context.Context, pod *corev1.Pod, spec corev1.Container) (container, error) {
	env := map[string]string{}
	for _, from := range spec.EnvFrom {
		if err := c.envFrom(ctx, from, env); err != nil {
			return container{}, err
		}
	}
	expand := expansion.MappingFuncFor(env)
	for _, variable := range spec.Env {
		value := expansion.Expand(variable.Value, expand)
		if from := variable.ValueFrom; from != nil {
			var err error
			if value, err = fieldpath.ExtractFieldPathAsString(pod, from.FieldRef.FieldPath); err != nil {
				return container{}, err
			}
		}
		env[variable.Name] = value
	}
	var resolved container
	for _, arg := range spec.Args {
		resolved.args = append(resolved.args, expansion.Expand(arg, expand))
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		resolved.env = append(resolved.env, name+"="+env[name])
	}
	return resolved, nil
}

func (c *cluster) envFrom(ctx context.Context, from corev1.EnvFromSource, env map[string]string) error {
	var err error
	optional := (*bool)(nil)
	switch {
	case from.ConfigMapRef != nil:
		var object *corev1.ConfigMap
		optional = from.ConfigMapRef.Optional
		if object, err = c.client.CoreV1().ConfigMaps(namespace).Get(ctx, from.ConfigMapRef.Name, metav1.GetOptions{}); err == nil {
			maps.Copy(env, object.Data)
		}
	case from.SecretRef != nil:
		var object *corev1.Secret
		optional = from.SecretRef.Optional
		if object, err = c.client.CoreV1().Secrets(namespace).Get(ctx, from.SecretRef.Name, metav1.GetOptions{}); err == nil {
			for name, value := range object.Data {
				env[name] = string(value)
			}
		}
	}
	if errors.IsNotFound(err) && optional != nil && *optional {
		return nil
	}
	return err
}
