# SPDX-License-Identifier: GPL-3.0-or-later

ONNX_SOURCES += \
	%D%/control_flow.c \
	%D%/graph.h \
	%D%/graph_inputs.c \
	%D%/model_walk.h \
	%D%/node_counts.c \
	%D%/node_order.c \
	%D%/node_record.c \
	%D%/operators.c \
	%D%/tensor.c
