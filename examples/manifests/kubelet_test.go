package manifests

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
	if err := c.mountSecrets(ctx, pod, spec, env); err != nil {
		return container{}, err
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
	if from.ConfigMapRef != nil {
		var object *corev1.ConfigMap
		optional = from.ConfigMapRef.Optional
		if object, err = c.client.CoreV1().ConfigMaps(namespace).Get(ctx, from.ConfigMapRef.Name, metav1.GetOptions{}); err == nil {
			maps.Copy(env, object.Data)
		}
	}
	if errors.IsNotFound(err) && optional != nil && *optional {
		return nil
	}
	return err
}

// mountSecrets makes the files of a container's secrets. The process sees them elsewhere than in a container, as its
// environment tells it.
func (c *cluster) mountSecrets(ctx context.Context, pod *corev1.Pod, spec corev1.Container, env map[string]string) error {
	for _, mount := range spec.VolumeMounts {
		for _, volume := range pod.Spec.Volumes {
			if volume.Name != mount.Name || volume.Secret == nil {
				continue
			}
			object, err := c.client.CoreV1().Secrets(namespace).Get(ctx, volume.Secret.SecretName, metav1.GetOptions{})
			if errors.IsNotFound(err) && *volume.Secret.Optional {
				continue
			} else if err != nil {
				return err
			}
			dir := c.t.TempDir()
			for name, value := range object.Data {
				if err := os.WriteFile(filepath.Join(dir, name), value, os.FileMode(*volume.Secret.DefaultMode)); err != nil { //nolint:gosec // nine bits
					return err
				}
			}
			for name, value := range env {
				if file, ok := strings.CutPrefix(value, mount.MountPath+"/"); ok {
					env[name] = filepath.Join(dir, file)
				}
			}
		}
	}
	return nil
}
