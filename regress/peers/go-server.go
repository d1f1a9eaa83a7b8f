// Copyright (c) 2026 The Hayate Authors
// SPDX-License-Identifier: ISC

// go-server ADDRESS:PORT HOST-KEY USER-KEY.PUB: an SSH server of Go, which takes
// that key and runs commands. Prints "ready" when it listens.
//
// Debian's golang-golang-x-crypto-dev has its library, below /usr/share/gocode.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"os/exec"

	"golang.org/x/crypto/ssh"
)

func read(name string) []byte {
	data, err := os.ReadFile(name)
	if err != nil {
		log.Fatal(err)
	}
	return data
}

func serve(session ssh.Channel, requests <-chan *ssh.Request) {
	defer session.Close()
	for r := range requests {
		r.Reply(r.Type == "exec", nil)
		if r.Type != "exec" {
			continue
		}
		var command struct{ Text string }
		if err := ssh.Unmarshal(r.Payload, &command); err != nil {
			return
		}
		child := exec.Command("/bin/sh", "-c", command.Text)
		child.Stdin, child.Stdout, child.Stderr = session, session, session.Stderr()
		child.Run()
		status := struct{ Code uint32 }{uint32(child.ProcessState.ExitCode())}
		session.CloseWrite()
		session.SendRequest("exit-status", false, ssh.Marshal(&status))
		return
	}
}

func meet(c net.Conn, config *ssh.ServerConfig) {
	conn, channels, requests, err := ssh.NewServerConn(c, config)
	if err != nil {
		log.Print(err)
		return
	}
	defer conn.Close()
	go ssh.DiscardRequests(requests)
	for ch := range channels {
		if session, requests, err := ch.Accept(); err == nil {
			go serve(session, requests)
		}
	}
}

func main() {
	key, err := ssh.ParsePrivateKey(read(os.Args[2]))
	if err != nil {
		log.Fatal(err)
	}
	user, _, _, _, err := ssh.ParseAuthorizedKey(read(os.Args[3]))
	if err != nil {
		log.Fatal(err)
	}
	config := &ssh.ServerConfig{
		PublicKeyCallback: func(_ ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
			if bytes.Equal(k.Marshal(), user.Marshal()) {
				return nil, nil
			}
			return nil, errors.New("another key")
		},
	}
	config.AddHostKey(key)
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ready")
	for {
		c, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go meet(c, config)
	}
}
