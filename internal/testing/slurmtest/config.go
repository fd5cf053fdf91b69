package slurmtest

import (
	"os"
	"os/user"
	"strings"
	"testing"
	"text/template"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
)

// configTemplate is a slurm.conf for one node, which is this machine, without systemd, cgroups, accounting and other
// services that are missing in a test. The node claims more CPUs and memory than the machine has (config_overrides), so
// that several array tasks run at the same time on two cores.
//
// A requeued job waits one second longer than its old credential is valid, so that the old credential cannot start it.
// The shortest validity of a credential that Slurm allows is five seconds. All other waits are short, except the
// timeouts for messages and for starting batch scripts, because a busy machine may delay these.
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
	host, _, _ := strings.Cut(must.Get(os.Hostname())(t), ".") // slurmctld shortens the name of its machine in this way
	f := must.Get(os.Create(path))(t)
	must.Do(t, configTemplate.Execute(f, map[string]any{
		"Host": host, "Node": nodeName, "Dir": dir, "CPUs": cpus, "User": must.Get(user.Current())(t).Username,
		"ControllerPort": controllerPort, "NodePort": nodePort,
	}))
	must.Do(t, f.Close())
}
