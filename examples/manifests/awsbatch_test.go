package manifests

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/batch"
	"github.com/aws/aws-sdk-go-v2/service/batch/types"
	"sigs.k8s.io/yaml"
)

// queue is what AWS Batch documents of its queues: jobs that wait for others, arrays, retries.
type queue struct {
	t      testing.TB
	env    []string // what a role gives a container at AWS, and the endpoint
	tries  tries
	strike func(job, index string, try int) *blow

	definition batch.RegisterJobDefinitionInput
	ids        []string
	failed     map[string]string // why, by id
	arrays     map[string]int32  // sizes of the array jobs, by name
}

// serve answers the command lines that submit.sh has, and no others. A job runs as soon as it
// is submitted: those that it waits for have ended then.
func (q *queue) serve(o order) outcome {
	out, err := q.command(o)
	if err != nil {
		return outcome{Err: "aws: " + err.Error() + "\n", Code: 254}
	}
	return outcome{Out: out + "\n"}
}

func (q *queue) command(o order) (string, error) {
	flags, verb := map[string]string{}, strings.Join(o.Args[:min(3, len(o.Args))], " ")
	for i := 3; i+1 < len(o.Args); i += 2 {
		flags[o.Args[i]] = o.Args[i+1]
	}
	input, query := flags["--cli-input-json"], flags["--query"]
	if len(o.Args) != 9 || len(flags) != 3 || flags["--output"] != "text" {
		return "", fmt.Errorf("%q is not known here", o.Args)
	}
	if path, ok := strings.CutPrefix(input, "file://"); ok {
		content, err := os.ReadFile(filepath.Join(o.Dir, path))
		if err != nil {
			return "", err
		}
		input = string(content)
	}
	switch verb + " " + query {
	case "aws batch register-job-definition jobDefinitionArn":
		if err := document(input, &q.definition, (*batch.Client).RegisterJobDefinition); err != nil {
			return "", err
		}
		return "arn:aws:batch:eu-central-1:111122223333:job-definition/" + *q.definition.JobDefinitionName + ":1", nil
	case "aws batch submit-job jobId":
		var job batch.SubmitJobInput
		if err := document(input, &job, (*batch.Client).SubmitJob); err != nil {
			return "", err
		}
		return q.submit(job)
	}
	return "", fmt.Errorf("%q is not known here", o.Args)
}

// document decodes what the AWS command takes into the SDK's type, strictly, and has the SDK's
// client send it: that validates it, and what is sent must be what was written, which also
// finds a name that is spelled with other capitals.
func document[In, Out any](text string, in *In, send func(*batch.Client, context.Context, *In, ...func(*batch.Options)) (*Out, error)) error {
	if err := yaml.UnmarshalStrict([]byte(text), in); err != nil {
		return err
	}
	var sent []byte
	client := batch.New(batch.Options{Region: "eu-central-1", Credentials: aws.AnonymousCredentials{}, HTTPClient: round(func(r *http.Request) (*http.Response, error) {
		var err error
		sent, err = io.ReadAll(r.Body)
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, err
	})})
	if _, err := send(client, context.Background(), in); err != nil {
		return err
	}
	var written, arrived any
	if err := json.Unmarshal([]byte(text), &written); err != nil {
		return err
	}
	if err := json.Unmarshal(sent, &arrived); err != nil {
		return err
	}
	if !reflect.DeepEqual(written, arrived) {
		return fmt.Errorf("AWS would be sent %s, not %s", sent, text)
	}
	return nil
}

// round is an HTTP client.
type round func(*http.Request) (*http.Response, error)

func (f round) Do(r *http.Request) (*http.Response, error) { return f(r) }

// submit runs a job and its elements.
func (q *queue) submit(job batch.SubmitJobInput) (string, error) {
	id := fmt.Sprintf("job-%04d", len(q.ids))
	for _, d := range job.DependsOn {
		if d.Type != "" || !slices.Contains(q.ids, *d.JobId) {
			return "", fmt.Errorf("it waits for %s %q, which is not known here", *d.JobId, d.Type)
		}
		if q.failed[*d.JobId] != "" {
			q.failed[id] = "Dependent Job failed"
		}
	}
	q.ids = append(q.ids, id)
	if q.failed[id] != "" {
		return id, nil
	}
	if job.ArrayProperties == nil {
		if code := q.element(*job.JobName, "", job.ContainerOverrides.Command, nil); code != 0 {
			q.failed[id] = strconv.Itoa(code)
		}
		return id, nil
	}
	size := *job.ArrayProperties.Size
	if size < 2 || size > 10_000 {
		return "", fmt.Errorf("an array has 2 to 10000 elements, not %d", size)
	}
	q.arrays[*job.JobName] = size
	codes := make([]int, size)
	var elements sync.WaitGroup
	for i := range codes {
		elements.Go(func() {
			index := strconv.Itoa(i)
			codes[i] = q.element(*job.JobName, index, job.ContainerOverrides.Command, []string{"AWS_BATCH_JOB_ARRAY_INDEX=" + index, "AWS_BATCH_JOB_ARRAY_SIZE=" + strconv.Itoa(int(size))})
		})
	}
	elements.Wait()
	for i, code := range codes {
		if code != 0 {
			q.failed[id] += fmt.Sprintf("[%d] ", i)
		}
	}
	return id, nil
}

// element runs one element of a job, again where the definition's retry strategy says so.
func (q *queue) element(job, index string, command, env []string) int {
	c := container{args: command, env: slices.Concat(q.env, env)}
	for _, e := range q.definition.ContainerProperties.Environment {
		c.env = append(c.env, *e.Name+"="+*e.Value)
	}
	for attempt := 0; ; attempt++ {
		var strike *blow
		if q.strike != nil {
			strike = q.strike(job, index, attempt)
		}
		code, said := c.run(q.t.Context(), q.t, strike)
		q.tries.add(try{job, index, "", code, said})
		if code == 0 || attempt+1 >= int(*q.definition.RetryStrategy.Attempts) || !retries(q.definition.RetryStrategy, code, "", "Essential container in task exited") {
			return code
		}
	}
}

// retries tells whether a strategy gives another try to a container that ended with a code; if
// no condition fits, it does.
func retries(s *types.RetryStrategy, code int, reason, statusReason string) bool {
	fits := func(pattern *string, text string) bool {
		if pattern == nil {
			return true
		}
		if start, ok := strings.CutSuffix(*pattern, "*"); ok {
			return strings.HasPrefix(text, start)
		}
		return *pattern == text
	}
	for _, e := range s.EvaluateOnExit {
		if fits(e.OnExitCode, strconv.Itoa(code)) && fits(e.OnReason, reason) && fits(e.OnStatusReason, statusReason) {
			return e.Action == types.RetryActionRetry
		}
	}
	return true
}
