# SPDX-License-Identifier: Apache-2.0
"""The networks of the bench, as PyTorch modules with seeded random weights.

Weights are scaled so that activations neither vanish nor overflow in half
precision; batch norms have statistics that matter.
"""
import torch


def _randomise(module: torch.nn.Module, seed: int) -> torch.nn.Module:
    generator = torch.Generator().manual_seed(seed)
    for m in module.modules():
        if isinstance(m, torch.nn.modules.batchnorm._BatchNorm):
            shape = m.weight.shape
            m.weight.data = 0.5 + torch.rand(shape, generator=generator)
            m.bias.data = 0.2 * torch.randn(shape, generator=generator)
            m.running_mean.data = 0.2 * torch.randn(shape, generator=generator)
            m.running_var.data = 0.5 + torch.rand(shape, generator=generator)
    return module.eval()


def resnet50() -> torch.nn.Module:
    import torchvision

    torch.manual_seed(50)
    return _randomise(torchvision.models.resnet50(weights=None), 1)


def googlenet() -> torch.nn.Module:
    import torchvision

    torch.manual_seed(22)
    return _randomise(
        torchvision.models.googlenet(weights=None, init_weights=True, aux_logits=False), 2
    )


class Bert(torch.nn.Module):
    """BERT-base: token ids in, last hidden state out."""

    def __init__(self):
        super().__init__()
        import transformers

        torch.manual_seed(12)
        config = transformers.BertConfig(attn_implementation="eager")
        self.bert = transformers.BertModel(config, add_pooling_layer=False).eval()

    def forward(self, ids, mask):
        # The mask as what is added to the scores, made here: the library's own
        # way to make it cannot be captured in a CUDA graph.
        dtype = self.bert.embeddings.word_embeddings.weight.dtype
        added = (1 - mask[:, None, None, :]).to(dtype) * -10000.0
        added = added.expand(-1, -1, ids.shape[1], -1)
        return self.bert(input_ids=ids, attention_mask=added).last_hidden_state


def images(batch: int) -> tuple:
    generator = torch.Generator().manual_seed(batch)
    return (torch.randn(batch, 3, 224, 224, generator=generator),)


def tokens(batch: int, length: int = 128) -> tuple:
    generator = torch.Generator().manual_seed(length)
    ids = torch.randint(0, 30000, (batch, length), generator=generator)
    return ids, torch.ones(batch, length, dtype=torch.int64)


# name, module, inputs, names of inputs, limit in milliseconds (None: no promise)
TABLE = [
    ("resnet50_b1", resnet50, lambda: images(1), ["x"], 0.57),
    ("resnet50_b128", resnet50, lambda: images(128), ["x"], 7.9),
    ("googlenet_b1", googlenet, lambda: images(1), ["x"], 0.55),
    ("bert_base_s128_b1", lambda: Bert().eval(), lambda: tokens(1), ["ids", "mask"], 0.67),
]
