package manifests

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dustin/go-humanize"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/ufs-stream/ufs-stream/internal/app/exit"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

const kubernetesFolder = "../kubernetes"

// final are the codes that another try does not change. Only a selection can end with the last.
func final(selects bool) []int32 {
	codes := []int32{exit.Usage, exit.Data, exit.Memory}
	if selects {
		codes = append(codes, exit.Unconverged)
	}
	return codes
}

// jobs are the Jobs of the example, by file, as the API server takes them.
func jobs(t *testing.T) map[string]*batchv1.Job {
	t.Helper()
	all := map[string]*batchv1.Job{}
	for _, path := range must.Get(filepath.Glob(filepath.Join(kubernetesFolder, "*.yaml")))(t) {
		object, err := admit(t.Context(), must.Get(decode(path))(t))
		if err != nil {
			t.Errorf("admitting the manifest %s: %v", path, err)
		} else if j, ok := object.(*batchv1.Job); ok {
			all[filepath.Base(path)] = j
		}
	}
	if len(all) != 6 || t.Failed() {
		t.Fatalf("%d Jobs in %s", len(all), kubernetesFolder)
	}
	return all
}

// containers are those of a Job, the first ones first.
func containers(j *batchv1.Job) []corev1.Container {
	return append(slices.Clone(j.Spec.Template.Spec.InitContainers), j.Spec.Template.Spec.Containers...)
}

// Strictness is what the other tests stand on: a misspelt field, a field twice and a policy that
// the server refuses are errors.
func TestManifestsAreDecodedStrictly(t *testing.T) {
	jobs(t) // as they are, they are taken
	for old, wrong := range map[string]string{
		"backoffLimitPerIndex: 3": "backOffLimitPerIndex: 3",
		"completions: 8 #":        "completions: 8\n  completions: 8 #",
		"values: [2, 3, 4]":       "values: [3, 2, 4]",
		"parallelism: 8":          "parallelism: -8",
		"restartPolicy: Never":    "restartPolicy: OnFailure",
		"completionMode: Indexed": "completionMode: NonIndexed",
	} {
		dir := edited(t, kubernetesFolder, "scan.yaml", map[string]string{old: wrong})
		object, err := decode(filepath.Join(dir, "scan.yaml"))
		if err == nil {
			_, err = admit(t.Context(), object)
		}
		if err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

// A pod that is taken over has nothing to take with it, and nowhere to go: no token of the cluster, no right of root's, no
// file of the image to change, no secret in its environment; and its image is that which was looked at.
func TestPodsAreConfined(t *testing.T) {
	for file, j := range jobs(t) {
		pod := j.Spec.Template.Spec
		if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
			t.Errorf("%s: the token of the service account is mounted", file)
		}
		s := pod.SecurityContext
		if s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.SeccompProfile == nil || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
			t.Errorf("%s: the pod's security context is %+v", file, s)
		}
		if pod.HostNetwork || pod.HostPID || pod.HostIPC {
			t.Errorf("%s: the pod shares a namespace with its node", file)
		}
		for _, v := range pod.Volumes {
			secret := v.Secret != nil && *v.Secret.DefaultMode == 0o440 && *v.Secret.Optional
			if !secret && v.EmptyDir == nil {
				t.Errorf("%s: volume %s is neither scratch nor a secret that only its group reads: %+v", file, v.Name, v.VolumeSource)
			}
		}
		for _, c := range containers(j) {
			s := c.SecurityContext
			if s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem ||
				s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) || len(s.Capabilities.Add) > 0 || s.Privileged != nil && *s.Privileged {
				t.Errorf("%s: %s has the security context %+v", file, c.Name, s)
			}
			for _, from := range c.EnvFrom {
				if from.SecretRef != nil {
					t.Errorf("%s: %s has the secret %s in its environment", file, c.Name, from.SecretRef.Name)
				}
			}
			for _, e := range c.Env {
				if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
					t.Errorf("%s: %s has a secret as %s in its environment", file, c.Name, e.Name)
				}
			}
			if c.Image != "IMAGE" {
				t.Errorf("%s: %s runs %s, want IMAGE, for which run.sh puts a digest", file, c.Name, c.Image)
			}
			if !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == "/secrets" && m.ReadOnly }) {
				t.Errorf("%s: %s has no secret at /secrets that it can only read: %+v", file, c.Name, c.VolumeMounts)
			}
		}
	}
	settings := must.Get(decode(filepath.Join(kubernetesFolder, "settings.yaml")))(t).(*corev1.ConfigMap)
	for name, value := range settings.Data {
		if regexp.MustCompile(`KEY|SECRET|TOKEN|PASSWORD|CONNECTION_STRING`).MatchString(name) {
			t.Errorf("the setting %s is a secret: %s", name, value)
		}
	}
}

// TestImagesAreNamedByDigest: neither script does anything with an image that is named by a tag.
func TestImagesAreNamedByDigest(t *testing.T) {
	for script, env := range map[string][]string{filepath.Join(kubernetesFolder, "run.sh"): nil, filepath.Join(awsFolder, "submit.sh"): {"DATA=s3://a/b", "JOB=s3://a/c", "QUEUE=q"}} {
		for _, image := range []string{"ufs-stream:0.1.0", "ufs-stream", "ufs-stream@sha256:12", "a b@sha256:" + digest} {
			code, out := runScript(t, script, nil, append([]string{"IMAGE=" + image}, env...), []string{"kubectl", "aws"}, func(o order) outcome {
				t.Errorf("%s with the image %s: %q was run", script, image, o.Args)
				return outcome{Code: 1}
			})
			if code != exit.Usage || !strings.Contains(out, "want NAME@sha256:DIGEST") {
				t.Errorf("%s with the image %s: exit code %d, want %d\n%s", script, image, code, exit.Usage, out)
			}
		}
	}
}

// The number of shards stands in many places, and is one.
func TestShardsAreOneNumber(t *testing.T) {
	seen, indexed := map[string]bool{}, 0
	for file, j := range jobs(t) {
		if *j.Spec.CompletionMode != batchv1.IndexedCompletion {
			continue
		}
		indexed++
		seen[strconv.Itoa(int(*j.Spec.Completions))] = true
		for _, c := range containers(j) {
			if !slices.Contains(c.Args, "--shard=auto") {
				t.Errorf("%s: %s has no --shard=auto: %q", file, c.Name, c.Args)
			}
			if !slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "JOB_COMPLETIONS" }) {
				t.Errorf("%s: %s has no JOB_COMPLETIONS", file, c.Name)
			}
			for _, e := range c.Env {
				seen[e.Value] = true // JOB_COMPLETIONS is the only one
			}
		}
		if *j.Spec.Parallelism > *j.Spec.Completions {
			t.Errorf("%s: more at once than there are", file)
		}
	}
	if len(seen) != 1 || indexed != 3 {
		t.Errorf("%d Jobs are indexed, with these numbers of shards: %v", indexed, seen)
	}
}

// Which codes are tried again is said once, by package exit: a Job gives up at final ones only,
// and at none where the node was taken away.
func TestPoliciesFollowTheExitCodes(t *testing.T) {
	for file, j := range jobs(t) {
		if j.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyNever {
			t.Errorf("%s: %s would start a container again without asking the policy", file, j.Spec.Template.Spec.RestartPolicy)
		}
		give := batchv1.PodFailurePolicyActionFailJob
		if *j.Spec.CompletionMode == batchv1.IndexedCompletion {
			give = batchv1.PodFailurePolicyActionFailIndex
			if j.Spec.BackoffLimitPerIndex == nil || *j.Spec.BackoffLimitPerIndex < 1 || j.Spec.MaxFailedIndexes == nil {
				t.Errorf("%s: an index has no tries of its own", file)
			}
		}
		rules := j.Spec.PodFailurePolicy.Rules
		if len(rules) != 2 || rules[0].Action != batchv1.PodFailurePolicyActionIgnore || len(rules[0].OnPodConditions) != 1 ||
			rules[0].OnPodConditions[0].Type != corev1.DisruptionTarget || rules[1].Action != give {
			t.Fatalf("%s: the rules are %+v", file, rules)
		}
		codes := rules[1].OnExitCodes
		var names []string
		selects := false
		for _, c := range containers(j) {
			names = append(names, c.Name)
			selects = selects || c.Args[0] == "select"
		}
		if want := final(selects); codes.Operator != batchv1.PodFailurePolicyOnExitCodesOpIn || !slices.Equal(codes.Values, want) {
			t.Errorf("%s: gives up at %s %v, want %v", file, codes.Operator, codes.Values, want)
		}
		if codes.ContainerName != nil && !slices.Contains(names, *codes.ContainerName) {
			t.Errorf("%s: the policy is of container %s, there are %v", file, *codes.ContainerName, names)
		}
	}
}

// The kernel kills at the container's limit: a quarter above the program's own is left. Scratch
// files fit their volume, and are written where the program looks.
func TestLimitsHaveHeadroom(t *testing.T) {
	for file, j := range jobs(t) {
		volumes := map[string]int64{}
		for _, v := range j.Spec.Template.Spec.Volumes {
			if v.EmptyDir != nil {
				volumes[v.Name] = v.EmptyDir.SizeLimit.Value()
			}
		}
		for _, c := range containers(j) {
			memory := c.Resources.Limits.Memory().Value()
			if limit := flagged(t, c.Args, "--memory-limit"); float64(memory) < 1.25*float64(limit) || c.Resources.Requests.Memory().Value() != memory {
				t.Errorf("%s: %s may use %d bytes, its container has %d", file, c.Name, limit, memory)
			}
			if len(c.VolumeMounts) != 2 || c.VolumeMounts[0].MountPath != "/tmp" {
				t.Fatalf("%s: %s has mounts %v", file, c.Name, c.VolumeMounts)
			}
			room := volumes[c.VolumeMounts[0].Name]
			if c.Resources.Limits.StorageEphemeral().Value() < room || room == 0 {
				t.Errorf("%s: %s may write %d bytes into a volume of %d", file, c.Name, c.Resources.Limits.StorageEphemeral().Value(), room)
			}
			if c.Args[0] == "scan" && flagged(t, c.Args, "--max-temp-size") > room {
				t.Errorf("%s: scratch does not fit a volume of %d bytes", file, room)
			}
		}
	}
}

// flagged is the value of a flag in bytes.
func flagged(t *testing.T, args []string, name string) int64 {
	t.Helper()
	for _, arg := range args {
		if value, ok := strings.CutPrefix(arg, name+"="); ok {
			return int64(must.Get(humanize.ParseBytes(value))(t))
		}
	}
	t.Fatalf("no %s in %q", name, args)
	return 0
}

// Every $(NAME) is a setting, or it would reach the program as it is; every setting is used.
func TestReferencesAreSettings(t *testing.T) {
	settings := must.Get(decode(filepath.Join(kubernetesFolder, "settings.yaml")))(t).(*corev1.ConfigMap)
	reference := regexp.MustCompile(`\$\(([^)]*)\)`)
	used := map[string]bool{}
	for file, j := range jobs(t) {
		for _, c := range containers(j) {
			if c.EnvFrom[0].ConfigMapRef.Name != settings.Name {
				t.Errorf("%s: %s reads the map %s", file, c.Name, c.EnvFrom[0].ConfigMapRef.Name)
			}
			for _, match := range reference.FindAllStringSubmatch(strings.Join(c.Args, " "), -1) {
				if used[match[1]] = true; settings.Data[match[1]] == "" {
					t.Errorf("%s: %s is not a setting", file, match[0])
				}
			}
		}
	}
	for name := range settings.Data {
		if strings.HasPrefix(name, "UFS_") && !used[name] { // others are for the program's libraries
			t.Errorf("setting %s is not used", name)
		}
	}
}
