# The module directories ("rooms"), lower ones first: a room may include headers
# of itself and of those before it. Makefiles, scripts and tests read this line.

HAYATE_ROOMS = common channels cipher transfer/data transfer/sched transfer/report transfer/sftp transfer/conns transfer/file transfer/verify transfer/copy ssh sshd

# The files that Hayate adds to upstream's libssh.a, one per line.
#
# HAYATE_CORE   get bytes and times, return decisions; no upstream header
# HAYATE_HOOKS  called by the patches; include upstream headers

HAYATE_CORE = \
	common/stall-stats.c \
	common/hayopt.c \
	common/memlimit.c \
	common/peer.c \
	common/ring.c \
	common/bottleneck.c \
	channels/bdp.c \
	channels/bufgrow.c \
	channels/bufmap.c \
	channels/window-limited.c \
	channels/mptcp.c \
	channels/standing-queue.c \
	channels/tcp-path.c \
	channels/usage.c \
	channels/wtune.c \
	cipher/autoscale.c \
	cipher/authonly.c \
	cipher/authonly-proposal.c \
	cipher/cores.c \
	cipher/kexguess.c \
	cipher/namelist.c \
	cipher/packetq.c \
	cipher/pool.c \
	transfer/data/extents.c \
	transfer/data/stale-temp.c \
	transfer/data/tempfile.c \
	transfer/sched/concurrency.c \
	transfer/sched/conn-count.c \
	transfer/sched/conn-sched.c \
	transfer/sched/failover.c \
	transfer/sched/lookup-queue.c \
	transfer/sched/multihost.c \
	transfer/sched/op-table.c \
	transfer/sched/request-window.c \
	transfer/sched/sched-replies.c \
	transfer/sched/scheduler.c \
	transfer/sched/sequence.c \
	transfer/sched/slow-conn.c \
	transfer/sched/stripe.c \
	transfer/sched/tempfile-sched.c \
	transfer/sched/verify-sched.c \
	transfer/sched/walk.c \
	transfer/report/json.c \
	transfer/sftp/early-requests.c \
	transfer/sftp/rendezvous.c \
	transfer/file/lines.c \
	transfer/file/longopt.c \
	transfer/file/progress-text.c \
	transfer/verify/verify.c \
	ssh/early-servers.c \
	ssh/happy-eyes.c \
	ssh/login-cache.c \
	sshd/journald.c \

HAYATE_HOOKS = \
	common/localtime-hook.c \
	common/machine-hook.c \
	common/optline-hook.c \
	common/peer-hook.c \
	common/blocksum-hook.c \
	common/sha256-hook.c \
	channels/bulk-hook.c \
	channels/gather-hook.c \
	channels/shmpipe-hook.c \
	channels/external-hook.c \
	channels/mptcp-hook.c \
	channels/sshbuf-hook.c \
	channels/tcpopt-hook.c \
	channels/stalls-hook.c \
	channels/wtune-hook.c \
	cipher/authonly-hook.c \
	cipher/authonly-proposal-hook.c \
	cipher/direction-hook.c \
	cipher/kexguess-hook.c \
	cipher/keypair-hook.c \
	cipher/macspeed-hook.c \
	cipher/segments-hook.c \
	cipher/pipeline-hook.c \
	cipher/poly1305-hook.c \
	cipher/receiving-hook.c \
	cipher/sealer-hook.c \
	cipher/sending-hook.c \
	cipher/zlib-hook.c \
	transfer/data/deferred-signals-hook.c \
	transfer/data/sparse-hook.c \
	transfer/data/temp-name-hook.c \
	transfer/report/report-hook.c \
	transfer/report/stock-hook.c \
	transfer/sftp/early-requests-hook.c \
	transfer/sftp/sftp-request-hook.c \
	transfer/sftp/sftp-stream-hook.c \
	transfer/conns/conns-hook.c \
	transfer/conns/fs-identity-hook.c \
	transfer/conns/reconnect-hook.c \
	transfer/conns/server-hook.c \
	transfer/file/bottleneck-hook.c \
	transfer/file/file-hook.c \
	transfer/file/files-from-hook.c \
	transfer/file/inspect-hook.c \
	transfer/file/longopt-hook.c \
	transfer/file/progress-hook.c \
	transfer/file/results-hook.c \
	transfer/verify/verify-requests-hook.c \
	transfer/verify/verify-run-hook.c \
	transfer/copy/arguments-hook.c \
	transfer/copy/cross-hook.c \
	transfer/copy/get-hook.c \
	transfer/copy/put-hook.c \
	transfer/copy/remote-glob-hook.c \
	transfer/copy/tempfile-hook.c \
	transfer/copy/transfer-hook.c \
	ssh/authonly-client-hook.c \
	ssh/authonly-mux-hook.c \
	ssh/bottleneck-ssh-hook.c \
	ssh/cleanup-hook.c \
	ssh/cliopt-hook.c \
	ssh/early-auth-hook.c \
	ssh/early-requests-ssh-hook.c \
	ssh/early-session-hook.c \
	ssh/extra-conn-hook.c \
	ssh/extra-sessions-hook.c \
	ssh/gcm-hook.c \
	ssh/guess-hook.c \
	ssh/happy-eyes-hook.c \
	ssh/known-hosts-hook.c \
	ssh/login-cache-hook.c \
	ssh/prompted-hook.c \
	ssh/relogin-hook.c \
	ssh/reread-hook.c \
	ssh/resolve-all-hook.c \
	ssh/ruser-hook.c \
	ssh/spawn-hook.c \
	sshd/authonly-server-hook.c \
	sshd/crypt-hook.c \
	sshd/stall-stats-hook.c \
	sshd/iotime-hook.c \
	sshd/gss-hook.c \
	sshd/monitor-hook.c \
	sshd/msgname-hook.c \
	sshd/restrict-hook.c \
	sshd/lifecycle-hook.c \
	sshd/sessionlog-hook.c \
	sshd/checkfile-hook.c \
	sshd/sftpsrv-hook.c \
	sshd/srvopt-hook.c \
	sshd/subsys-hook.c \

# Core headers that a patch includes directly: constants and inline functions.

HAYATE_DIRECT = authonly.h cipher-seek.h

# Files of upstream that one of ours takes the place of, in libssh.a.

HAYATE_REPLACED = cleanup.c sshbuf.c

