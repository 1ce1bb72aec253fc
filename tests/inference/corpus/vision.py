"""Convolutional models of one to three dimensions."""

import torch
import torch.nn.functional as F
from torch import nn


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(16 * 4 * 4, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = x.view(-1, 16 * 4 * 4)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class CifarNet(nn.Module):
    def __init__(self, num_classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc = nn.Linear(64 * 8 * 8, num_classes)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        return self.fc(torch.flatten(x, 1))


class AlexNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, 11, stride=4, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2),
            nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2),
            nn.Conv2d(192, 256, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2),
        )
        self.classifier = nn.Sequential(nn.Dropout(), nn.Linear(256 * 6 * 6, 512), nn.ReLU(), nn.Linear(512, 1000))

    def forward(self, images):
        return self.classifier(self.features(images).flatten(1))


class BasicBlock(nn.Module):
    def __init__(self, inp, out, stride=1):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inp, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out)
        self.conv2, self.bn2 = nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out)
        self.short = nn.Conv2d(inp, out, 1, stride) if stride != 1 or inp != out else nn.Identity()

    def forward(self, x):
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))) + self.short(x))


class ResNet(nn.Module):
    def __init__(self, layers=(1, 1), num_classes=10):
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 7, 2, 3)
        self.layer1 = nn.Sequential(*[BasicBlock(32, 32) for _ in range(layers[0])])
        self.layer2 = nn.Sequential(*[BasicBlock(32 if i == 0 else 64, 64, 2 if i == 0 else 1) for i in range(layers[1])])
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(64, num_classes)

    def forward(self, x):
        return self.fc(self.pool(self.layer2(self.layer1(self.stem(x)))).flatten(1))


class UNet(nn.Module):
    def __init__(self, in_channels=1, out_channels=2, width=16):
        super().__init__()
        self.down1 = nn.Conv2d(in_channels, width, 3, padding=1)
        self.down2 = nn.Conv2d(width, 2 * width, 3, padding=1)
        self.bottom = nn.Conv2d(2 * width, 4 * width, 3, padding=1)
        self.up2 = nn.ConvTranspose2d(4 * width, 2 * width, 2, 2)
        self.merge2 = nn.Conv2d(4 * width, 2 * width, 3, padding=1)
        self.up1 = nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.merge1 = nn.Conv2d(2 * width, width, 3, padding=1)
        self.out = nn.Conv2d(width, out_channels, 1)

    def forward(self, x):
        a = F.relu(self.down1(x))
        b = F.relu(self.down2(F.max_pool2d(a, 2)))
        c = F.relu(self.bottom(F.max_pool2d(b, 2)))
        b = F.relu(self.merge2(torch.cat([self.up2(c), b], 1)))
        return self.out(F.relu(self.merge1(torch.cat([self.up1(b), a], 1))))


class TimeUNet(nn.Module):
    """A denoiser: noisy image and timestep."""

    def __init__(self, channels=3, width=32):
        super().__init__()
        self.width = width
        self.time = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
        self.inp, self.mid, self.out = (
            nn.Conv2d(channels, width, 3, 1, 1), nn.Conv2d(width, width, 3, 1, 1), nn.Conv2d(width, channels, 3, 1, 1)
        )
        self.norm = nn.GroupNorm(8, width)

    def embed(self, t):
        half = self.width // 2
        freqs = torch.exp(-torch.arange(half) / half * 9.2)
        angles = t[:, None].float() * freqs[None]
        return torch.cat([angles.sin(), angles.cos()], dim=-1)

    def forward(self, x, t):
        h = self.inp(x) + self.time(self.embed(t))[:, :, None, None]
        return self.out(F.silu(self.norm(self.mid(h))))


class ConvAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 12, 4, 2, 1), nn.ReLU(), nn.Conv2d(12, 24, 4, 2, 1), nn.ReLU())
        self.decoder = nn.Sequential(nn.ConvTranspose2d(24, 12, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(12, 3, 4, 2, 1))

    def forward(self, x):
        return self.decoder(self.encoder(x))


class DcganGenerator(nn.Module):
    def __init__(self, nz=100, ngf=16):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 4, 4, 1, 0), nn.BatchNorm2d(ngf * 4), nn.ReLU(),
            nn.ConvTranspose2d(ngf * 4, ngf, 4, 2, 1), nn.ReLU(), nn.ConvTranspose2d(ngf, 3, 4, 2, 1), nn.Tanh(),
        )

    def forward(self, noise):
        # noise: (B, nz, 1, 1)
        return self.main(noise)


class PatchDiscriminator(nn.Module):
    def __init__(self, channels=3):
        super().__init__()
        self.model = nn.Sequential(nn.Conv2d(2 * channels, 32, 4, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(32, 1, 4, 1, 1))

    def forward(self, image, condition):
        return self.model(torch.cat((image, condition), 1))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 16, 3, 2, 1), nn.LeakyReLU(0.2), nn.Conv2d(16, 32, 3, 2, 1))
        self.score = nn.Linear(32 * 7 * 7, 1)

    def forward(self, img):
        h = self.features(img)
        return torch.sigmoid(self.score(h.reshape(h.shape[0], -1)))


class SuperResolution(nn.Module):
    def __init__(self, upscale_factor: int):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 32, 5, 1, 2), nn.Conv2d(32, upscale_factor**2, 3, 1, 1)
        self.shuffle = nn.PixelShuffle(upscale_factor)

    def forward(self, x):
        return self.shuffle(self.conv2(F.relu(self.conv1(x))))


class PixelUp(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Upsample(scale_factor=2, mode="bilinear")
        self.conv = nn.Conv2d(12, 3, 3, padding=1)

    def forward(self, features):
        return self.conv(self.up(features))


class SqueezeExcitation(nn.Module):
    def __init__(self, channels: int, reduction: int = 4):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(channels, channels // reduction), nn.ReLU(), nn.Linear(channels // reduction, channels), nn.Sigmoid())

    def forward(self, x):
        b, c, _, _ = x.size()
        y = self.fc(x.mean((2, 3)))
        return x * y.view(b, c, 1, 1)


class SpatialAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 1, 7, padding=3)

    def forward(self, x):
        pooled = torch.cat([x.mean(dim=1, keepdim=True), x.amax(dim=1, keepdim=True)], dim=1)
        return x * torch.sigmoid(self.conv(pooled))


class KeypointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Conv2d(3, 16, 3, 2, 1)
        self.heatmaps = nn.Conv2d(16, 17, 1)

    def forward(self, pixel_values):
        heat = self.heatmaps(F.relu(self.backbone(pixel_values)))
        b, k, h, w = heat.shape
        weights = heat.view(b, k, h * w).softmax(-1)
        grid = torch.stack(torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij"), -1).view(1, 1, h * w, 2)
        return (weights.unsqueeze(-1) * grid).sum(2)


class DetectionHead(nn.Module):
    def __init__(self, channels=(16, 32, 64), anchors=3, classes=20):
        super().__init__()
        self.heads = nn.ModuleList(nn.Conv2d(width, anchors * (classes + 5), 1) for width in channels)

    def forward(self, features: list[torch.Tensor]):
        return [head(f).flatten(2).transpose(1, 2) for head, f in zip(self.heads, features)]


class FeaturePyramid(nn.Module):
    def __init__(self, widths=(32, 64)):
        super().__init__()
        self.lateral = nn.ModuleList([nn.Conv2d(w, 32, 1) for w in widths])

    def forward(self, features):
        fine, coarse = features
        top = self.lateral[1](coarse)
        return self.lateral[0](fine) + F.interpolate(top, size=fine.shape[-2:], mode="nearest"), top


class OpticalFlow(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Conv2d(6, 32, 7, 2, 3)
        self.flow = nn.Conv2d(32, 2, 3, 1, 1)

    def forward(self, image1, image2):
        return self.flow(F.relu(self.encoder(torch.cat([image1, image2], dim=1))))


class SpatialTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.localization = nn.Sequential(nn.Conv2d(1, 8, 7), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(8, 10, 5), nn.MaxPool2d(2), nn.ReLU())
        self.fc = nn.Linear(10 * 3 * 3, 6)

    def forward(self, x):
        theta = self.fc(self.localization(x).view(-1, 10 * 3 * 3)).view(-1, 2, 3)
        return F.grid_sample(x, F.affine_grid(theta, x.size(), align_corners=False), align_corners=False)


class VideoClassifier(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        self.conv = nn.Conv3d(3, 16, 3, padding=1)
        self.pool = nn.AdaptiveAvgPool3d(1)
        self.fc = nn.Linear(16, classes)

    def forward(self, clip):
        return self.fc(self.pool(F.relu(self.conv(clip))).flatten(1))


class VolumeSegmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.norm = nn.Conv3d(1, 8, 3, padding=1), nn.InstanceNorm3d(8)
        self.decode = nn.Conv3d(8, 3, 1)

    def forward(self, volume):
        return self.decode(F.relu(self.norm(self.encode(volume))))


class WaveNet(nn.Module):
    def __init__(self, channels=16):
        super().__init__()
        self.inp = nn.Conv1d(1, channels, 1)
        self.dilated = nn.ModuleList(nn.Conv1d(channels, 2 * channels, 2, dilation=2**i) for i in range(3))
        self.out = nn.Conv1d(channels, 256, 1)

    def forward(self, x):
        x = self.inp(x)
        for conv in self.dilated:
            a, b = conv(F.pad(x, (conv.dilation[0], 0))).chunk(2, dim=1)
            x = x + torch.tanh(a) * torch.sigmoid(b)
        return self.out(x)


class SpectrogramTagger(nn.Module):
    def __init__(self, n_mels=64, tags=50):
        super().__init__()
        self.norm = nn.BatchNorm1d(n_mels)
        self.conv = nn.Conv1d(n_mels, 128, 5, padding=2)
        self.fc = nn.Linear(128, tags)

    def forward(self, mel):
        return self.fc(F.relu(self.conv(self.norm(mel))).mean(dim=2))


class EegNet(nn.Module):
    """Classifies recordings.

    Shape:
        - Input: (N, 1, channels, time)
    """

    def __init__(self, channels=22):
        super().__init__()
        self.temporal = nn.Conv2d(1, 8, (1, 33), padding=(0, 16))
        self.spatial = nn.Conv2d(8, 16, (channels, 1), groups=8)
        self.fc = nn.LazyLinear(4)

    def forward(self, x):
        return self.fc(F.avg_pool2d(F.elu(self.spatial(self.temporal(x))), (1, 4)).flatten(1))


class StyleTransfer(nn.Module):
    def forward(self, content, style):
        b, c, h, w = content.shape
        mean, std = style.mean((2, 3), keepdim=True), style.std((2, 3), keepdim=True)
        flat = content.view(b, c, -1)
        normed = (flat - flat.mean(-1, keepdim=True)) / (flat.std(-1, keepdim=True) + 1e-5)
        return normed.view(b, c, h, w) * std + mean
