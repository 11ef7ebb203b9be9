package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// encode reads one watch event of a Pod as JSON and writes it as the frame a protobuf watch carries: length, event.
func encode(in io.Reader, out io.Writer) error {
	var event struct {
		Type   string     `json:"type"`
		Object corev1.Pod `json:"object"`
	}
	if err := json.NewDecoder(in).Decode(&event); err != nil {
		return err
	}
	serializer := protobuf.NewSerializer(scheme, scheme)
	var object bytes.Buffer
	if err := serializer.Encode(&event.Object, &object); err != nil {
		return err
	}
	watchEvent := metav1.WatchEvent{Type: event.Type, Object: runtime.RawExtension{Raw: object.Bytes()}}
	frame, err := watchEvent.Marshal()
	if err != nil {
		return err
	}
	if err := binary.Write(out, binary.BigEndian, uint32(len(frame))); err != nil {
		return err
	}
	_, err = out.Write(frame)
	return err
}
