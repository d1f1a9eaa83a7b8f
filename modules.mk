# What Hayate adds to upstream's libssh.a, one file a line.
#
# HAYATE_CORE   bytes and times in, decisions out: no upstream header
# HAYATE_HOOKS  what the patches call: knows upstream
# HAYATE_HOT    files of either list that are compiled for speed

HAYATE_CORE = \
	channels/bdp.c \
	channels/bufgrow.c \
	channels/peer.c \
	channels/starve.c \
	channels/tcp-path.c \
	channels/wtune.c \
	cipher/autoscale.c \
	cipher/clear.c \
	cipher/cores.c \
	cipher/packetq.c \
	cipher/pool.c \
	ssh/hayopt.c \
	ssh/sftp-tell.c \
	ssh/sftpq.c \

HAYATE_HOOKS = \
	channels/peer-hook.c \
	channels/wtune-hook.c \
	cipher/clear-hook.c \
	cipher/direction-hook.c \
	cipher/macrank-hook.c \
	cipher/pipeline-hook.c \
	cipher/receiving-hook.c \
	cipher/sealer-hook.c \
	cipher/sending-hook.c \
	ssh/clearcli-hook.c \
	ssh/clearmux-hook.c \
	ssh/cliopt-hook.c \
	ssh/optline-hook.c \
	ssh/sftpq-hook.c \
	sshd/clearsrv-hook.c \
	sshd/srvopt-hook.c \
	sshd/subsys-hook.c \

HAYATE_HOT = \

