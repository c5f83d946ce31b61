/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of each kind of descriptor: each row is a member of the kind's
 * struct (descriptor_kinds.h), a value or attribute in XML files, a line of
 * `show`, a name for --set and formulas.
 *
 *   TEXT(name, help)
 *   NUMBER(name, unit, low, high, help)   unit NULL: a plain number
 *
 * Adding a field is adding a row, texts before numbers, and its name in
 * data/KIND.rng. Who includes this file defines both macros, and FIELDS_OF_KIND
 * for the kind, which is undefined at its end. */

#ifdef FIELDS_OF_ACCELERATOR
/* Peak rates are dense, in 1e12 operations per second, outside tensor (matrix)
 * units unless the name says tensor. The bounds are a hundred times what boards
 * reach: beyond them a unit was mistaken. */
#define RATE(name, help) NUMBER(name, "TFLOP/s", 1e-4, 1e5, help)
#define LANE_RATE(name, help) NUMBER(name, "TFLOP/s", 1e-4, 1e4, help)
TEXT(vendor, "vendor")
TEXT(family, "family")
/* The form is "pcie", "sxm", "socket"; the memory "gddr6", "hbm2e". */
TEXT(form, "form")
TEXT(memory_type, "memory")
/* "announced": it was never sold in numbers. Unknown: it is, or was. */
TEXT(availability, "availability")
NUMBER(tdp_w, "W", 1, 2000, "thermal design power")
NUMBER(power_limit_w, "W", 1, 2000,
       "power limit in force, where it is not the TDP")
NUMBER(most_limit_w, "W", 1, 2000,
       "highest power limit of its machines, where above the TDP")
NUMBER(idle_w, "W", 0, 1000, "power with nothing running")
/* Unknown: idle_w. */
NUMBER(context_w, "W", 0, 1000,
       "power of one that a process holds, without a kernel")
LANE_RATE(peak_fp64_tflops, "peak FP64 rate, outside tensor cores")
LANE_RATE(peak_fp32_tflops, "peak FP32 rate, outside tensor cores")
LANE_RATE(peak_fp16_tflops, "peak FP16 rate, outside tensor cores")
LANE_RATE(peak_bf16_tflops, "peak BF16 rate, outside tensor cores")
RATE(peak_fp64_tensor_tflops, "peak FP64 tensor rate, dense")
RATE(peak_tf32_tflops, "peak TF32 tensor rate, dense")
RATE(peak_fp16_tensor_tflops, "peak FP16 tensor rate, dense")
RATE(peak_bf16_tensor_tflops, "peak BF16 tensor rate, dense")
RATE(peak_fp8_tensor_tflops, "peak FP8 tensor rate, dense")
RATE(peak_fp4_tensor_tflops, "peak FP4 tensor rate, dense")
NUMBER(peak_int8_tops, "TOP/s", 1e-4, 1e5,
       "peak INT8 rate, outside tensor cores")
NUMBER(peak_int8_tensor_tops, "TOP/s", 1e-4, 1e5,
       "peak INT8 tensor rate, dense")
/* GB are 1e9 bytes, MB 1e6 bytes. */
NUMBER(memory_gb, "GB", 0.1, 1e4, "memory of the board")
/* Unknown: 0. */
NUMBER(ecc_share, NULL, 0, 0.5, "share of the memory that ECC takes")
NUMBER(bandwidth_gb_s, "GB/s", 1, 1e5, "memory bandwidth")
NUMBER(link_gb_s, "GB/s", 0.1, 1e5, "to other accelerators, one direction")
/* Unknown: the node's. */
NUMBER(link_domain, NULL, 1, 1e6, "accelerators joined at link_gb_s")
NUMBER(cuda_cores, NULL, 1, 1e6, "FP32 lanes (CUDA cores, stream processors)")
NUMBER(multiprocessors, NULL, 1, 1e5, "multiprocessors, compute units or cores")
/* A CPU without it has a server's. */
NUMBER(memory_channels, NULL, 1, 64, "memory channels of a CPU")
NUMBER(base_mhz, "MHz", 50, 1e4, "base clock")
NUMBER(boost_mhz, "MHz", 100, 1e4, "boost clock")
/* CPUs have it; unknown: at most boost_mhz. */
NUMBER(all_core_mhz, "MHz", 100, 1e4, "highest clock of all cores at once")
NUMBER(l2_mb, "MB", 0.01, 1e5, "last-level cache")
/* Unknown: one. */
NUMBER(devices, NULL, 1, 64, "devices that the system sees on the board")
NUMBER(embodied_kg, "kg", 0.1, 1e5, "CO2 equivalent of making the board")
NUMBER(year, NULL, 2000, 2100, "year of release")
#undef RATE
#undef LANE_RATE
#undef FIELDS_OF_ACCELERATOR
#endif

#ifdef FIELDS_OF_ARCHITECTURE
TEXT(family, "family")
NUMBER(macs_g, "GMAC", 1e-6, 1e9, "multiply-accumulates of one forward pass")
NUMBER(acts_m, "M", 1e-6, 1e9, "outputs of convolutions and dense layers")
NUMBER(params_m, "M", 1e-6, 1e9, "parameters")
NUMBER(active_params_m, "M", 1e-6, 1e9, "parameters that a token uses")
/* Unknown: 0. */
NUMBER(sparse_params_m, "M", 0, 1e9,
       "part of params_m in rows of which a step updates those looked up")
/* Unknown: the size that the precision has. */
NUMBER(weight_bytes, "B", 0.1, 8,
       "size of a weight of the published checkpoint, where servers load it "
       "quantized")
NUMBER(image_px, "px", 1, 1e5, "side of the square input")
NUMBER(seq_len, "tokens", 1, 1e9, "length of the sequence")
/* Unknown: it does not generate by denoising. */
NUMBER(denoising_steps, NULL, 1, 1e5, "usual denoising steps of a sample")
NUMBER(passes_per_step, NULL, 1, 100,
       "passes in a denoising step: 2 with classifier-free guidance")
/* The encoders of the text and the decoder of the image run once per sample
 * generated; figures are for the first input size. */
NUMBER(pipeline_params_m, "M", 0, 1e9,
       "parameters of text encoders and image decoder")
NUMBER(pipeline_macs_g, "GMAC", 0, 1e9,
       "their multiply-accumulates, once per sample generated")
NUMBER(pipeline_traffic_m, "M", 0, 1e9, "elements that they read and write")
NUMBER(pipeline_launches, NULL, 0, 1e7, "their kernels")
/* Unknown: the work of the classifier. */
NUMBER(head_macs_g, "GMAC", 0, 1e9, "part that does not grow with the input")
NUMBER(head_inputs, NULL, 1, 1e9, "features that the classifier takes")
/* Unknown: there is no classifier. */
NUMBER(classes, NULL, 1, 1e9, "outputs of the classifier")
NUMBER(head_params_m, "M", 0, 1e9, "parameters trained with a frozen backbone")
NUMBER(layers, NULL, 1, 1e6, "convolutions and dense layers")
NUMBER(launches, NULL, 1, 1e7, "kernels of one forward pass")
/* Unknown: all of them. */
NUMBER(launch_path, NULL, 1, 1e7, "kernels on the longest path through it")
/* Networks with attention have these. */
NUMBER(patch_px, "px", 1, 1e5, "side of a patch")
NUMBER(depth, NULL, 1, 1e5, "attention blocks")
NUMBER(hidden_size, NULL, 1, 1e6, "hidden size")
NUMBER(heads, NULL, 1, 1e5, "attention heads")
/* Unknown: one. */
NUMBER(extra_tokens, NULL, 0, 1e5, "tokens in addition to the patches")
/* These are parts of the figures at the first input size. */
NUMBER(attention_macs_g, "GMAC", 0, 1e9,
       "part that grows with the tokens squared")
NUMBER(attention_acts_m, "M", 0, 1e9, "part that grows with the tokens squared")
/* Unknown: 32. */
NUMBER(stride_px, "px", 1, 1024, "stride of the coarsest map")
NUMBER(traffic_ratio, NULL, 1, 1000,
       "elements that all layers read and write, by activation")
NUMBER(elementwise_ratio, NULL, 0.1, 1000,
       "elements that operators between layers read and write, by activation")
NUMBER(kept_ratio, NULL, 0.1, 1000,
       "activations that the backward pass needs, by acts_m without scores")
NUMBER(mixed_kept_ratio, NULL, 0.1, 1000,
       "likewise in mixed precision, in units of 16 bits")
/* Unknown: no two-stage detector, and none that matches queries. */
NUMBER(regions, NULL, 1, 1e6,
       "regions of a sample that a detector is trained on")
NUMBER(padding_ratio, NULL, 0.1, 1000,
       "work of tensor cores with that of padding, by macs_g")
/* Unknown: 0. */
NUMBER(depthwise_share, NULL, 0, 1, "part of macs_g in depthwise layers")
/* Decoders have these. expert_params_m is 0 without experts. */
NUMBER(token_params_m, "M", 1e-6, 1e9,
       "weights that a token is multiplied with")
NUMBER(expert_params_m, "M", 0, 1e9, "weights of all experts")
NUMBER(expert_share, NULL, 0, 1,
       "share of the experts that a token goes through")
NUMBER(kv_cache_per_token, NULL, 1, 1e9,
       "size of the KV cache per token, elements")
NUMBER(pair_macs, NULL, 1, 1e12, "multiply-accumulates with each token before")
/* Unknown: all layers attend to all tokens. */
NUMBER(attention_window, "tokens", 1, 1e9,
       "tokens that layers with a window attend to")
NUMBER(window_share, NULL, 0, 1, "share of the layers with a window")
#undef FIELDS_OF_ARCHITECTURE
#endif

#ifdef FIELDS_OF_DATASET
TEXT(family, "family")
NUMBER(train_samples, NULL, 1, 1e12, "training samples")
NUMBER(val_samples, NULL, 0, 1e12, "validation samples")
NUMBER(classes, NULL, 1, 1e9, "classes")
NUMBER(image_px, "px", 1, 1e5, "usual input size")
NUMBER(stored_mpx, "MP", 1e-6, 1e4, "mean size of a stored image, 1e6 pixels")
NUMBER(stored_kb, "kB", 1e-3, 1e6, "mean size of the file of an image")
/* Corpora have it: language models read their tokens and not samples. */
NUMBER(tokens, NULL, 1, 1e16, "tokens of the training split")
/* Unknown: the network's length. */
NUMBER(sample_tokens, NULL, 1, 1e7, "mean tokens of a training sample")
#undef FIELDS_OF_DATASET
#endif

#ifdef FIELDS_OF_GRID
NUMBER(carbon_g_kwh, "g/kWh", 0, 5000, "carbon intensity, CO2 equivalent")
NUMBER(year, NULL, 2000, 2100, "year of the figure")
#undef FIELDS_OF_GRID
#endif

#ifdef FIELDS_OF_SITE
TEXT(vendor, "vendor")
/* Identifier of the grid that feeds it. */
TEXT(grid, "grid")
TEXT(place, "place")
NUMBER(pue, NULL, 1, 10, "power usage effectiveness")
NUMBER(carbon_g_kwh, "g/kWh", 0, 5000, "carbon intensity, CO2 equivalent")
NUMBER(year, NULL, 2000, 2100, "year of the figures")
#undef FIELDS_OF_SITE
#endif

#ifdef FIELDS_OF_NODE
TEXT(vendor, "vendor")
/* Identifiers of other entries. */
TEXT(cpu, "CPU")
TEXT(gpu, "GPU")
TEXT(site, "site")
/* A fraction for a slice of a host. */
NUMBER(sockets, NULL, 0.01, 64, "CPUs")
NUMBER(cores, NULL, 1, 4096, "cores of all CPUs")
/* Unknown: the value of the CPU's entry. */
NUMBER(cpu_tdp_w, "W", 1, 2000, "thermal design power of one CPU")
NUMBER(cpu_idle_w, "W", 0, 1000, "power of one CPU with nothing running")
NUMBER(gpus, NULL, 0, 256, "accelerators")
/* Overrides the entry of the accelerator. */
NUMBER(gpu_idle_w, "W", 0, 1000,
       "power of one accelerator with nothing running")
NUMBER(memory_gb, "GB", 0.1, 1e6, "main memory")
NUMBER(memory_w_gb, "W/GB", 0, 10, "power of the memory by GB")
/* With the accelerators at their TDP. */
NUMBER(rest_w, "W", 0, 2e5, "power of board, fans, network and drives")
/* It grows with the cube of the accelerators' power; 0 cooled by a liquid. */
NUMBER(fans_w, "W", 0, 2e5, "part of rest_w that is of fans")
NUMBER(supply_efficiency, NULL, 0.1, 1,
       "efficiency of the power supply at half load")
/* Unknown: the efficiency at half load is taken at any load. */
NUMBER(supply_w, "W", 1, 1e6, "rated power of the supplies in use")
NUMBER(network_gbps, "Gbit/s", 1e-3, 1e6,
       "network to other nodes, for each accelerator and direction")
/* Overrides the value of its site. */
NUMBER(pue, NULL, 1, 10, "power usage effectiveness of where it stands")
NUMBER(embodied_kg, "kg", 0.1, 1e6,
       "CO2 equivalent of making it, without accelerators")
/* The user's: no entry that ships has one. */
NUMBER(price_h, "/h", 0, 1e6, "price of an hour of the whole node")
NUMBER(year, NULL, 2000, 2100, "year of the figures")
#undef FIELDS_OF_NODE
#endif
