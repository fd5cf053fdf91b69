package slurmtest

import (
	"os"
	"os/user"
	"strings"
	"testing"
	"text/template"

	"github.com/ufs-stream/ufs-stream/internal/must"
)

// configTemplate is a slurm.conf for one node, this machine, without systemd, cgroups, accounting
// and other services that a test lacks. The node claims more CPUs and memory than the machine
// has (config_overrides), so that array tasks run side by side on two cores.
//
// A requeued job waits one second longer than its old credential is valid, so that this credential
// cannot start the job. Slurm's shortest validity is five seconds. Other waits are short, but timeouts
// of messages and of batch scripts that start are longer, because a busy machine may delay them.
var configTemplate = template.Must(template.New("slurm.conf").Parse(`ClusterName=test
SlurmctldHost={{.Host}}(127.0.0.1)
SlurmctldPort={{.ControllerPort}}
SlurmdPort={{.NodePort}}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser={{.User}}
SlurmdUser={{.User}}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={{.Dir}}/munge.socket,cred_expire=5
StateSaveLocation={{.Dir}}/state
SlurmdSpoolDir={{.Dir}}/spool
SlurmctldPidFile={{.Dir}}/slurmctld.pid
SlurmdPidFile={{.Dir}}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MailProg=/bin/true
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1
KillWait=1
MessageTimeout=60
BatchStartTimeout=120
SlurmdTimeout=0
ReturnToService=2
SlurmdParameters=config_overrides
NodeName={{.Node}} NodeHostname={{.Host}} NodeAddr=127.0.0.1 CPUs={{.CPUs}} RealMemory=1000000 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`))

const nodeName = "one"

func writeConfig(t testing.TB, path, dir string, cpus, controllerPort, nodePort int) {
	t.Helper()
	host, _, _ := strings.Cut(must.Get(os.Hostname())(t), ".") // slurmctld uses this form of its own name
	f := must.Get(os.Create(path))(t)
	must.Do(t, configTemplate.Execute(f, map[string]any{
		"Host": host, "Node": nodeName, "Dir": dir, "CPUs": cpus, "User": must.Get(user.Current())(t).Username,
		"ControllerPort": controllerPort, "NodePort": nodePort,
	}))
	must.Do(t, f.Close())
}
