/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The physics of training transformers that process tokens: what an optimizer
 * step costs.
 *
 * n GPUs in D = n / (T P) copies of the network, each divided by layers' width
 * among T (tensor parallelism) and by layers among P (pipeline). A step is m
 * micro-batches of b sequences of s tokens on each copy; where X GPUs share
 * each sequence (context parallelism), each of them is a copy with b / X, and
 * their exchange of keys and values is hidden. One of them takes, on
 * a GPU that holds 1 / (T P) of the network (u = b s / (T P) tokens' worth),
 *
 *   Tc = 2 u v / (ec peak) r^th ((M - Me) n(h, b s) + Me (n(f, j b s)
 *        + 64 ne / (j b s)))                            matrix products
 *   Ta = 2 u A va / (ea peak0^(1 - phi) peak^phi)    attention
 *   Tm = e (34 ct fused^o L h (1 + .35 k) v / 3 + 2 V) u / (em BW)
 *        + eager 12 e S u / (em BW) + (v e + q) N / (T P em BW)
 *        + e (10 + 8 [E > 1]) j Le h v / 3 u / (em BW)
 *        + e (10 + 4.5 k) a fused^o u / (em BW)         traffic
 *   Tg = (Tc + Ta + Tm) G N F S Q      what a GPU, a network, a framework, a
 *                                       software stack and a network on a
 *                                       GPU differ by
 *   Tx = gathers of the weights (ZeRO-3), exchanges of the activations
 *        between the T GPUs of a layer, messages between the stages of a
 *        pipeline, and tokens to their experts and back
 *   Th = (tau (v' + k) (10 L + (24 + 2 (nl - 1)) Le) / P + c0) graph^g
 *                                                                  launches
 *   T1 = (Tg^4 + Tx^4 + Th^4)^(1/4)
 *   Tv = 200 tau L / P                     operations on weights, one by one
 *
 * M: weights that a token is multiplied with; A: multiply-accumulates of
 * attention per token, half of the square where a flash kernel omits what a
 * causal mask hides; S: scores per token of eager attention, all layers; v:
 * passes, 3 to train all weights, 2 + (weights trained / M) with adapters (no
 * derivative by frozen weights), 1 + ... for the head alone, one more with full
 * checkpointing k = 1; va: passes of attention, 3 and half of one for a flash
 * kernel, which computes the scores again, and one more with checkpointing,
 * half of them for flash attention in NVIDIA's containers; r = max(1, (peak /
 * TDP) / .78 TFLOP/s/W), the A100's: boards that do more with a watt are held
 * by their power limit, but TPUs, whose dense products take 1 / 1.25 of the
 * time; e: bytes of an element; q: bytes to unpack 4-bit
 * weights; a: values into and out of products with adapters, which are read and
 * written that often beside them; o = 1 where kernels are fused (NVIDIA's
 * containers, compiled code, MLPerf); g = 1 for MLPerf's CUDA graphs. peak0 is
 * 312 TFLOP/s. n(w, t) = 1 + h0 T / w + T tiles / (4 t w) for products w wide
 * of t tokens: tensor cores compute a result in tiles of 128 x 128, one on each
 * multiprocessor at a time, and half of the last round is idle; tiles / (t w)
 * is the share of a round in a result w wide. The forward pass and the
 * gradients of activations, two thirds of the work, have results h or 4 h wide;
 * products of weights have results that do not depend on the tokens. Tiles of
 * plain FP32 are smaller. In TF32 products take no longer than in plain FP32.
 *
 * In a mixture's Le layers a token is copied to j experts, f wide, ne of them
 * on a GPU. Each expert's tokens are a product of their own, whose last tile is
 * half full (Gale et al., arXiv 2211.15841: tiles of 128 x 128). A copy is
 * written and read before the products and after them, forward and backward,
 * and read for the gradients of weights: ten times; where GPUs divide the
 * experts it is sorted a second time on either side of each exchange, eight
 * more (Megatron-Core, dispatcher by all-to-all). 72 more kernels a layer in
 * three passes: 31 that route, fused, as many of their derivatives, and ten
 * that permute (NVIDIA, Optimizing DeepSeek-V3 Training Performance on GB200
 * NVL72: 72 before fusion, 31 after). Transformer Engine launches the products
 * of each expert apart (nl = ne), other software all together (nl = 1).
 *
 * Plain software (Transformers, operator by operator) moves more: the traffic
 * of activations is 1.9 times as much, 4 times in gated layers, whose norms and
 * rotations are composed of operators, and .7 of that in FP32; a logit has 60 B
 * for 2 e; the optimizer 1.6 times as much; a layer 20 or 32 kernels a pass for
 * 10 (language_cost_private.h). Where the software is not known each is a mean,
 * in which plain software has the weight 1 / n: a single GPU mostly runs plain
 * scripts, hundreds a tuned trainer.
 *
 * Tv is 0 but for TensorFlow (outside MLPerf), where loss scaling, clipping,
 * accumulation and optimizer are operations on each tensor of weights in turn:
 * about 12 on each of a layer's 16. A step takes
 *
 *   T0 = R (T1 + Tv) + (T1^4 + Tr^4)^(1/4) - T1 + To
 *   T  = T0 (1 + strag log2(nodes)) unknown^w
 *
 * or, where gradients are summed up after the backward pass and not beside it,
 * T0 = R (T1 + Tv) + Tr + To: Horovod in TensorFlow, and MLPerf's BERT on PCIe
 * boards, whose published configurations leave the option of overlap out.
 * R: micro-batches with the bubble of the pipeline, m + (P - 1) / v with v
 * virtual stages (dl_pipeline_rounds); a stage sends v activations forward and
 * v gradients back, each e b s h / T bytes, to a neighbour on another node if
 * there are several, of which one network adapter serves each GPU.
 * With E GPUs that divide the experts, each holds and reads 1 / E of them. A
 * layer with experts sends each token to j of them and gets as much back, in
 * the forward and the backward pass, and forward again with checkpointing: x =
 * 2 (v > 1 ? 2 : 1) + 2 k times
 *
 *   e h u' / (xl link) j (1 - 1 / w)   and   e h u' / (xn network) n'
 *
 * (a^4 + b^4)^(1/4), after one another with the work of the GPU within a
 * domain, since experts wait for their tokens; beyond it beside the work of
 * another micro-batch, as schedules for experts on several nodes have it
 * (DualPipe, arXiv 2412.19437). u' = b s / T tokens, of w GPUs in a domain of
 * the link and E / w domains, of which a token's experts are in n' others
 * (expected, if all experts are as likely): it is sent to each of them once and
 * distributed there. Gradients of experts are summed up by the D / E GPUs that
 * have these experts, over the adapters of a domain's GPUs.
 * Tr: the all-reduce
 * of the gradients (without ZeRO-3), behind the last backward pass; To:
 * optimizer, wopt x its bytes / (em BW); w = 1 where the software stack is not
 * given: software of laboratories is slower than tuned trainers at their best.
 * Collectives take bytes / link + alpha log2(members) each: `link` is xl
 * (NVLink) or xp (PCIe) of the link's rate within the domain, and at most xn of
 * what the network adapters of all its GPUs have beyond it.
 *
 * Each GPU draws, m (Tc + Ta) of a step computing and m Tm + To moving data,
 *
 *   Pd = (TDP (pa + pu + (pf m (Tc + Ta) + pm (m Tm + To)) / T0) + pb BW') Gp
 *   P  = (Pd^-8 + C^-8)^(-1/8),  C = pcap limit
 *
 * where a limit above the board's TDP takes its place (A100 boards of 400 W at
 * a limit of 500 W draw 423 to 476 W). BW': bandwidth of GDDR6 or later. Where
 * C binds, T grows by exp(kappa ln(x)^2) as in training_cost.h, with B = .6 (pa
 * TDP + pb BW'') Gp, BW'' what its chips could move.
 *
 * Work and memory follow Kaplan et al. (arXiv 2001.08361), Korthikanti et al.
 * (arXiv 2205.05198) and Rajbhandari et al. (arXiv 1910.02054); the bubble
 * and messages of pipelines follow Narayanan et al. (arXiv 2104.04473);
 * expert parallelism follows Lepikhin et al. (arXiv 2006.16668) and, between
 * nodes, DeepSeek-AI (arXiv 2412.19437).
 * docs/lab/language-models.md says what was tried and where the priors come
 * from.
 */

#ifndef DL_PHYSICS_LANGUAGE_LANGUAGE_COST_H
#define DL_PHYSICS_LANGUAGE_LANGUAGE_COST_H

#include "physics/physics.h"

/* Constants, all positive and kept as logarithms. */
enum dl_language_constant {
  DL_LANG_EC,      /* share of the 16-bit peak reached by matrix products */
  DL_LANG_EC_TF32, /* share of TF32, */
  DL_LANG_EC_FP32, /* plain FP32 */
  DL_LANG_EC_FP8,  /* and FP8 */
  DL_LANG_TH,      /* exponent of the board's FLOP/s per W */
  DL_LANG_H0,      /* width at which products reach half their rate */
  DL_LANG_EA,      /* share of the peak rate reached by attention */
  DL_LANG_PHI,     /* exponent of the peak rate there */
  DL_LANG_EM,      /* share of the memory bandwidth reached */
  DL_LANG_CT,      /* traffic of activations, relative to 34 h a layer */
  DL_LANG_FUSED,   /* the launch cost with fused kernels, relative */
  DL_LANG_EAGER,   /* passes over the scores of eager attention, / 12 */
  DL_LANG_WOPT,    /* traffic of the optimizer, relative to its states */
  DL_LANG_TAU,     /* s: a launch */
  DL_LANG_C0,      /* s: a micro-batch on the host */
  DL_LANG_GRAPH,   /* launches by CUDA graphs, relative */
  DL_LANG_XL,      /* share of NVLink's rate */
  DL_LANG_XP,      /* share of PCIe's rate */
  DL_LANG_XN,      /* share of the network's rate */
  DL_LANG_XTP,     /* share of the link's rate, tensor parallelism */
  DL_LANG_ALPHA,   /* s: a step of a collective */
  DL_LANG_STRAG,   /* slower with each doubling of the nodes */
  DL_LANG_UNKNOWN, /* software that is not known, relative */
  DL_LANG_PA,      /* static power, share of TDP */
  DL_LANG_PB,      /* W s/GB: static power by bandwidth, GDDR6 and later */
  DL_LANG_PU,      /* busy */
  DL_LANG_PF,      /* computing */
  DL_LANG_PM,      /* moving data */
  DL_LANG_PCAP,    /* most, share of TDP */
  DL_LANG_KAPPA,   /* how it slows down there */
  DL_N_LANGUAGE
};

/* Deviations from descriptors, as logarithms; 0 where unknown. */
enum dl_language_effect {
  DL_LANG_EFFECT_GPU_TIME,
  DL_LANG_EFFECT_GPU_POWER,
  DL_LANG_EFFECT_ARCH_TIME,
  DL_LANG_EFFECT_STACK_TIME,
  DL_LANG_EFFECT_FRAMEWORK_TIME,
  DL_LANG_EFFECT_PAIR_TIME,
  DL_LANG_EFFECT_SOURCE_POWER,
  DL_N_LANGUAGE_EFFECTS
};

/* Grouping factors. */
enum dl_language_factor {
  DL_LANG_FACTOR_GPU,
  DL_LANG_FACTOR_ARCH,
  DL_LANG_FACTOR_STACK,
  DL_LANG_FACTOR_FRAMEWORK,
  DL_LANG_FACTOR_PAIR, /* a network on a GPU */
  DL_LANG_FACTOR_SOURCE,
  DL_N_LANGUAGE_FACTORS
};

enum dl_language_target {
  DL_LANG_TARGET_RATE,  /* tokens per second, all GPUs */
  DL_LANG_TARGET_POWER, /* of one GPU, mean, W */
  DL_N_LANGUAGE_TARGETS
};

enum dl_language_format {
  DL_LANG_16_BIT,
  DL_LANG_TF32,
  DL_LANG_FP32,
  DL_LANG_FP8
};

/* A training of a language model; everything is known. Members of 8 bytes each,
 * or ints in pairs: inputs are compared byte by byte. */
struct dl_language_inputs {
  struct dl_grouping grouping;
  double sequences;        /* b: of a micro-batch, on a copy */
  double tokens;           /* s: of a sequence */
  double micro_batches;    /* m */
  double linear;           /* M */
  double attention;        /* A */
  double scores;           /* S; 0: a flash kernel */
  double passes;           /* v, without checkpointing */
  double again;            /* passes that checkpointing adds, of all layers */
  double attention_passes; /* products of attention, all of them */
  double params, trained;  /* weights; those that are trained */
  double adapted;          /* a: values into and out of adapted products */
  double unpack;           /* q: bytes a weight and step */
  double layers, hidden;   /* L, h */
  double vocabulary;       /* V: outputs of a token; 0: none */
  double element;          /* e: bytes */
  double state_bytes;      /* of a trained weight, that an optimizer step
                              reads and writes */
  double n_gpus, tensor, pipeline;
  double virtual_stages;  /* of a pipeline stage */
  double expert_parallel; /* E; 1: experts are not divided, and the next two,
                             members and copies to send are 0 */
  double experts, trained_experts; /* weights of all that are divided */
  double moe_layers;               /* Le: layers with experts */
  double expert_linear; /* Me: weights of experts that a token is multiplied
                           with; 0: no mixture, and so are Le to launched */
  double chosen;        /* j: experts of a token */
  double expert_width;  /* f: hidden size of an expert, h where that is less */
  double own_experts;   /* ne: of a layer, on a GPU */
  double launched;      /* nl: experts whose products are launched apart */
  double members;       /* w: of the E GPUs, in a domain of the link */
  double to_members, to_nodes; /* copies of a token that a layer sends by the
                                  link and by the network */
  double shards;               /* GPUs that divide the optimizer's states */
  double nodes;
  double domain;        /* GPUs joined by the link */
  double link, network; /* B/s of a GPU, one direction */
  double peak, peak_16; /* FLOP/s at the format in use, and in 16 bits */
  double plain;         /* and of FP32, where TF32 may give way to it; else 0 */
  double systolic;      /* 1: arrays of a TPU compute products; else 0 */
  double tiles;         /* of results, in a round; 0: small or unknown */
  double bandwidth;     /* B/s */
  double gddr;          /* GB/s of GDDR6 or later; 0: other memory */
  double chips;         /* GB/s that its chips could move */
  double tdp, limit;    /* W; tdp: no less than the limit */
  double untuned;       /* share of plain software: 1 Transformers, 0 tuned,
                           between them where the software is not known */
  int composed;         /* norms and positions are composed of operators */
  int format;           /* enum dl_language_format */
  int gathers;          /* weights are divided too (ZeRO-3) */
  int fused, graphs;    /* software; */
  int unknown;          /* 1: not given */
  int pcie;             /* the link is PCIe */
  int by_weight;        /* operations on each tensor of weights in turn */
  int reduces_last;     /* gradients, after the backward pass */
  int unused;
};

/* An optimizer step: what each part takes alone, s, and the whole; W of a GPU.
 * compute, attention and memory are of a GPU; exchange is communication. */
struct dl_language_cost {
  double compute, attention, memory, optimizer, launch, exchange;
  double time;
  double power;
  double tokens; /* of a step, all GPUs */
};

/* c: DL_N_LANGUAGE constants; fx: DL_N_LANGUAGE_EFFECTS logarithms. */
void dl_language_cost_of(const double *c, const double *fx,
                         const struct dl_language_inputs *inputs,
                         struct dl_language_cost *cost);

/* The physics' gradient (physics.h); g NULL: values alone. */
void dl_language_gradient(const double *c, const double *fx, const void *inputs,
                          double *log_target, struct dl_gradient *g);

extern const struct dl_physics dl_language_physics;

#endif
