package manifests

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/job"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// cluster is as much of a cluster as a Job needs: a store of objects, Kubernetes' own Job
// controller, and a kubelet that runs the pods as processes. What it has not are nodes, a
// scheduler, images and limits of memory.
type cluster struct {
	t      testing.TB
	client *fake.Clientset
	tries  tries
	// strike tells what happens to a try of an index, from 0 on; nil means nothing.
	strike func(job, index string, try int) *blow

	mu      sync.Mutex
	serial  int
	begun   map[string]int // tries of an index of a job
	running map[types.UID]context.CancelFunc
	pods    sync.WaitGroup
}

// newCluster starts a cluster that ends with the test. The secret's data are what settings.yaml
// says to put into it.
func newCluster(t *testing.T, secret map[string]string) *cluster {
	t.Helper()
	must.Get(program())(t) // before anything waits for it
	c := &cluster{t: t, client: fake.NewClientset(), begun: map[string]int{}, running: map[types.UID]context.CancelFunc{}}
	c.versions()
	if secret != nil {
		object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "ufs-store", Namespace: namespace}, Data: map[string][]byte{}}
		for name, value := range secret {
			object.Data[name] = []byte(value)
		}
		must.Get(c.client.CoreV1().Secrets(namespace).Create(t.Context(), object, metav1.CreateOptions{}))(t)
	}
	// Its log would tell of reads that are behind writes, which the controller does again.
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	factory := informers.NewSharedInformerFactory(c.client, 0)
	pods, jobs := factory.Core().V1().Pods(), factory.Batch().V1().Jobs()
	controller := must.Get(job.NewController(ctx, c.client, pods, jobs, factory.Scheduling().V1alpha2().Workloads(), factory.Scheduling().V1alpha2().PodGroups()))(t)
	must.Get(pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { c.begin(ctx, object.(*corev1.Pod)) },
		DeleteFunc: func(object any) { c.end(object) },
	}))(t)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	ended := make(chan struct{})
	go func() { defer close(ended); controller.Run(ctx, 2) }()
	t.Cleanup(func() {
		cancel()
		<-ended
		c.pods.Wait()
		factory.Shutdown()
	})
	return c
}

// versions makes the fake store give what the API server gives: names and identities to pods
// that are created, and a new version to every one that is changed. Without versions the
// controller does not see changes.
func (c *cluster) versions() {
	stamp := func(pod *corev1.Pod) { pod.ResourceVersion = strconv.Itoa(c.next()) }
	c.client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		pod := action.(clienttesting.CreateAction).GetObject().(*corev1.Pod)
		if pod.Name == "" {
			pod.Name = pod.GenerateName + fmt.Sprintf("%05d", c.next())
		}
		pod.UID, pod.CreationTimestamp = types.UID(pod.Name), metav1.Now()
		pod.Status.Phase = corev1.PodPending
		stamp(pod)
		return false, nil, nil
	})
	c.client.PrependReactor("update", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		stamp(action.(clienttesting.UpdateAction).GetObject().(*corev1.Pod))
		return false, nil, nil
	})
	patch := clienttesting.ObjectReaction(c.client.Tracker())
	c.client.PrependReactor("patch", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		_, object, err := patch(action)
		if err != nil {
			return true, nil, err
		}
		pod := object.(*corev1.Pod).DeepCopy()
		stamp(pod)
		return true, pod, c.client.Tracker().Update(action.GetResource(), pod, namespace)
	})
}

func (c *cluster) next() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serial++
	return c.serial
}

// create is what happens to an object that kubectl applies.
func (c *cluster) create(ctx context.Context, object runtime.Object) error {
	admitted, err := admit(ctx, object)
	if err != nil {
		return err
	}
	switch o := admitted.(type) {
	case *batchv1.Job:
		_, err = c.client.BatchV1().Jobs(namespace).Create(ctx, o, metav1.CreateOptions{})
	case *corev1.ConfigMap:
		_, err = c.client.CoreV1().ConfigMaps(namespace).Create(ctx, o, metav1.CreateOptions{})
	}
	return err
}

// remove deletes a Job and waits for its pods, as kubectl does.
func (c *cluster) remove(ctx context.Context, name string) error {
	if err := c.client.BatchV1().Jobs(namespace).Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	pods, err := c.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + name})
	if err != nil {
		return err
	}
	for _, pod := range pods.Items {
		if err := c.client.CoreV1().Pods(namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{}); err != nil {
			return err
		}
	}
	time.Sleep(job.SyncJobBatchPeriod) // the controller sees it before the next of that name
	return nil
}

// indexOf is the completion index of a pod; it is empty in a Job that has none.
func indexOf(pod *corev1.Pod) string { return pod.Annotations[batchv1.JobCompletionIndexAnnotation] }

// begin starts a pod as a kubelet does.
func (c *cluster) begin(ctx context.Context, pod *corev1.Pod) {
	if pod.Status.Phase != corev1.PodPending {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	c.running[pod.UID] = cancel
	key := pod.Labels[batchv1.JobNameLabel] + " " + indexOf(pod)
	nth := c.begun[key]
	c.begun[key]++
	c.mu.Unlock()
	c.pods.Go(func() {
		defer cancel()
		c.runPod(ctx, pod.DeepCopy(), nth)
	})
}

// end kills the processes of a pod that is deleted.
func (c *cluster) end(object any) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.running[object.(*corev1.Pod).UID]; cancel != nil {
		cancel()
	}
}

// runPod runs the containers of a pod one after the other, those of initContainers first, and
// reports what has become of them.
func (c *cluster) runPod(ctx context.Context, pod *corev1.Pod, nth int) {
	name, index := pod.Labels[batchv1.JobNameLabel], indexOf(pod)
	var strike *blow
	if c.strike != nil {
		strike = c.strike(name, index, nth)
	}
	pod.Status.Phase = corev1.PodSucceeded
	steps := len(pod.Spec.InitContainers)
	for i, spec := range append(append([]corev1.Container(nil), pod.Spec.InitContainers...), pod.Spec.Containers...) {
		begun, code, said := metav1.Now(), 128, ""
		if resolved, err := c.resolve(ctx, pod, spec); err != nil {
			said = err.Error()
		} else {
			code, said = resolved.run(ctx, c.t, strike)
		}
		if ctx.Err() != nil {
			return // it was deleted, and nobody asks
		}
		c.tries.add(try{name, index, spec.Name, code, said})
		status := corev1.ContainerStatus{Name: spec.Name, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: int32(code), StartedAt: begun, FinishedAt: metav1.Now(), //nolint:gosec // at most 255
		}}}
		if i < steps {
			pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, status)
		} else {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, status)
		}
		if code != 0 {
			pod.Status.Phase = corev1.PodFailed
			break
		}
	}
	if strike != nil && strike.drained {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: "EvictionByEvictionAPI"})
	}
	// Its finalizer may have been taken since: only the status is written.
	if current, err := c.client.CoreV1().Pods(namespace).Get(ctx, pod.Name, metav1.GetOptions{}); err == nil {
		current.Status = pod.Status
		_, err = c.client.CoreV1().Pods(namespace).UpdateStatus(ctx, current, metav1.UpdateOptions{})
		if err != nil && !strings.Contains(err.Error(), "not found") {
			c.t.Errorf("pod %s: %v", pod.Name, err)
		}
	}
}
